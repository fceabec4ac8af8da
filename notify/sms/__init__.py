"""Replies by SMS: rendered as segments, handed to Twilio."""
