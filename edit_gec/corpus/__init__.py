"""Corpora behind `edit-gec corpus`: rows of files of any size, corrected by many workers.

    input -> run.py             one job from its input to its summary
          -> partition.py       which files there are, and where they are cut into units
          -> lines.py, tables.py    rows of text, JSONL and CSV; rows of Parquet and data sets
          -> job.py             a unit in three stages: load, infer, save
          -> local_runner.py, ray_runner.py    the workers: processes of this machine, or a Ray cluster
          -> journal.py, progress.py, summary.py    what is done, how far it is, what it cost

README.md in this folder is for those who run a job. profiles/corpora measures it.
"""
