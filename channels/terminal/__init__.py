"""`chat` in the terminal."""
