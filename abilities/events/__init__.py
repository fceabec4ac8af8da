"""The event bus: rows first, then Redis streams."""
