"""Which statements of a message become memories, and which facts of the profile change."""
