"""Answers by voice over every channel."""
