"""Networks, vocabulary and model folders."""
