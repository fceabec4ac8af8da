"""Replies on Telegram: entities, keyboards, drafts."""
