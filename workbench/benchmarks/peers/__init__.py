"""The peers beside ours, each in an environment of its own."""
