"""The morning briefing: its parts read, set as one message, planned and sent."""
