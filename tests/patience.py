"""How long tests wait for what is certain to come."""

PATIENCE = 60.0
"""Seconds. A wait ends with what it waits for: only a failure takes so long, and a busy machine fails nothing."""
