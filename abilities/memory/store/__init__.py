"""Memories as rows, with their terms and vectors."""
