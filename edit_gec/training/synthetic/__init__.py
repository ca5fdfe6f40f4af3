"""What corruptor.py draws from: rules for each type of error (slips_*), word tables, inflections, misspellings."""
