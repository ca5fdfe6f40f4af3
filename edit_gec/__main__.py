"""python -m edit_gec: the same as the edit-gec command."""

from __future__ import annotations

from edit_gec.cli.main import command

if __name__ == "__main__":
    command()
