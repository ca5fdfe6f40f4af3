"""Strings and offsets, without torch: edits, sentences, formats, files, output forms."""
