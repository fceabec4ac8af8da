"""Periodic work: the schedule of each worker, chores of one worker for all, retention, and catch-up with providers."""
