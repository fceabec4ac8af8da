"""The channel of people's programs: it has no provider, and its user keys are the ids of tokens."""

CHANNEL, ACCOUNT = "mcp", "local"
