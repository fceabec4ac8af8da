"""Calls of models by litellm's names: errors, prices, JSON mode, fallbacks."""
