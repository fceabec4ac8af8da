"""Signed webhooks out: other systems are told of events, by ids and kinds, never by texts."""
