"""A halt of the whole installation by its owner, until it is lifted."""
