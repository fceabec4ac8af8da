"""Wakeups through Redis, the claims that follow them, limits of the backlog, quarantine of crashing work."""
