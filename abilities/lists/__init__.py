"""Lists to tick off, and notes."""
