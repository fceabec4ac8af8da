"""Times and places as people name them.

`moments` reads all languages, `saying_when` asks about unreadable words, `planning` reads a plan back.
"""
