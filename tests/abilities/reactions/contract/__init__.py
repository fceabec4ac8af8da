"""Reactions over every channel."""
