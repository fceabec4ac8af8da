"""Signing in to the console: links that are good once, and sessions."""
