"""Finds the memories that answer a question."""
