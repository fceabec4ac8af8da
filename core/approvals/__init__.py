"""Consent to one exact action: requests, cards and exact replies."""
