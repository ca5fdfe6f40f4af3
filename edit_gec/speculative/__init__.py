"""A T5 target, its drafters and lossless verification."""
