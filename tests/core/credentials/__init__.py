"""The credential store, its keys, and their rotation."""
