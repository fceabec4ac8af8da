"""Replies to `chat` in the terminal."""
