"""What both directions share of a provider: its SDK, its errors as ours, its wire format; models are providers too."""
