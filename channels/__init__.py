"""The way in: a folder for each provider, which imports the core and its provider's folder only."""
