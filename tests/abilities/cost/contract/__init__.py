"""Long answers over every channel."""
