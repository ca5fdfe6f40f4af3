"""What `edit-gec profile` and `edit-gec bench` are made of: systems, what is replayed, clocks, results, pictures."""
