"""Periodic work: its table for each worker and for the installation, retention, and catch-up with providers."""
