"""Builds channels, orchestrator and abilities from the settings, and loads plugins."""
