"""Times and places as people name them.

`moments` reads all languages, `saying_when` asks about what it cannot read, `planning` reads a plan back.
"""
