"""Answers to programs, which read them from the outbox."""
