"""Training: recipes, pairs, objectives and what models are made from."""
