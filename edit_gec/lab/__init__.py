"""The laboratory: what trains, scores and times edit-gec. Nothing that corrects text imports it."""
