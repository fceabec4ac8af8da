"""Turns as a worker runs them: claim a lane, run its turn, show its progress, and send its messages."""
