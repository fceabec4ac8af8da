"""Periodic work: its table for each worker and for one of all, retention, and catch-up with providers."""
