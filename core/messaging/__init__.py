"""Messages, chat words, the `Channel` protocols and the outbox."""
