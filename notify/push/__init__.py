"""Notifications by ntfy."""
