"""Telegram's SDK, errors and limits."""
