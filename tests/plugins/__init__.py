"""Plugins that tests load into real processes by ONEVALET_PLUGINS."""
