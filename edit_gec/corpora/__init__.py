"""The old name of edit_gec.corpus; holds what is imported or run by its old name."""
