"""Corpora of any size: units of work, how their rows are read and written, and who does the work (see README.md)."""
