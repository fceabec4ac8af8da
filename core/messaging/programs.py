"""Where programs of people write: a channel without a provider, on which the user key is the id of a token."""

CHANNEL, ACCOUNT = "mcp", "local"
