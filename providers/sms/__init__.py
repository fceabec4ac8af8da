"""Twilio's SDK, errors and limits."""
