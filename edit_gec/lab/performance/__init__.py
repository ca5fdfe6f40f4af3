"""The parts of `edit-gec profile` and `edit-gec bench`: systems, replay, clocks, results, plots."""
