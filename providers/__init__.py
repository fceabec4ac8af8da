"""The shared parts of each provider: its SDK or wire format, and its errors as ours. Models are providers too."""
