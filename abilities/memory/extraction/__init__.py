"""Which statements of a message become memories."""
