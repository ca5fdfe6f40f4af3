"""The old name of edit_gec.annotation and edit_gec.evaluation; holds what is run by its old name."""
