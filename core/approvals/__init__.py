"""Consent to an exact action: requests, cards and exact replies."""
