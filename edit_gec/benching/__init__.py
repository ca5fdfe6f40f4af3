"""What `edit-gec bench` is made of: systems side by side, timed in turns; speculation against its theory; pictures."""
