"""Secret keys: wrapping data keys under a new key, and discarding data sealed under a lost key."""
