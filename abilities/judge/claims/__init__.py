"""Answers that claim an act: the words that say so in six languages, and whether a call of the turn did it."""
