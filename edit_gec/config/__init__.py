"""Settings of projects and users, shared by all front ends.

settings.py        the keys, how they are read, and how settings add up
projects.py        which file's settings a path has
user_words.py      the user's own dictionary
load_settings.py   what `Corrector.load` is asked for
"""
