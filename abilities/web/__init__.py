"""Pages read and the web searched."""
