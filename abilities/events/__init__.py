"""The event bus: rows first, then wakeups."""
