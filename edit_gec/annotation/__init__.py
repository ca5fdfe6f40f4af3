"""ERRANT: M2 files, edit types and the spaCy pipeline under them."""
