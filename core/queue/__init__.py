"""Wakeups through Redis, limits of the backlog, quarantine of turns that crash workers."""
