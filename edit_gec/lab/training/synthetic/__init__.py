"""What corruptor.py draws from: rules for each type of error, word tables, inflections, misspellings."""
