"""Households: the people who live together, and what they share."""
