"""Signed webhooks out: other systems are told of what happened, by ids and kinds, never by texts."""
