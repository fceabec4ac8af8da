"""Consent in advance to calls of one narrow shape.

`shape` says to which calls one counts, `turn` uses it, `store` counts.
"""
