"""The morning briefing: its parts read, set as a message, planned and sent."""
