"""The blocks of README.md and docs/: what can be typed in a clone is typed, twice.

`elsewhere` says why the rest is not.
"""
