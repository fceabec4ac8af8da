"""Slack's SDK, errors and limits."""
