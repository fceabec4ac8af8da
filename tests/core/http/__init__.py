"""The guarded way out."""
