"""People whom the person knows, and messages to them."""
