"""A person's data as a whole."""
