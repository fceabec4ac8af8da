"""The demo model: English phrases over the real tools, for people without a key."""
