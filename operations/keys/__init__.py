"""Secret keys: wrapping data keys under a new one, and discarding what a lost one sealed."""
