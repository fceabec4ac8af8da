"""Times and places as people name them.

`moments` reads all languages, `saying_when` asks about unreadable words, `asking_where` asks for the person's zone,
and `planning` reads a plan back.
"""
