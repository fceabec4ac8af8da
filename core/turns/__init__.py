"""A turn, from its messages to its reply."""
