"""Replies on Slack: blocks, buttons, streamed answers."""
