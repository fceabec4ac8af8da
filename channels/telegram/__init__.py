"""Telegram's updates, by webhook or polling."""
