"""Wakeups through Redis, limits of the backlog, quarantine of what crashes workers."""
