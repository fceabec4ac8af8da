"""Notifications as rows, and people's addresses."""
