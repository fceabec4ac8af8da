"""Consent in advance to calls of a narrow shape.

`shape` decides which calls a consent covers, `turn` uses consents, `store` counts the uses.
"""
