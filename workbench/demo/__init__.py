"""The demo model, which answers without a provider."""
