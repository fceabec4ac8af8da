"""Consent to a single, exact action: requests, cards and exact replies."""
