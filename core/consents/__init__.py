"""Consent in advance to calls of one narrow shape.

`shape` decides which calls a consent covers, `turn` uses consents, `store` counts the uses.
"""
