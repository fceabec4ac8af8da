"""Answers by voice: made by a speech model once the text has gone out, and sent after it."""
