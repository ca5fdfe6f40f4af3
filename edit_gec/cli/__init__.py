"""The command line; start reading in main.py."""

from __future__ import annotations

from edit_gec.cli.main import command, main

__all__ = ["command", "main"]
