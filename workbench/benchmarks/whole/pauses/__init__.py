"""Modules that the Python of a measured process imports by itself, since this folder is on its path."""
