"""Backups of the whole installation: taken while it runs, proved, and restored."""
