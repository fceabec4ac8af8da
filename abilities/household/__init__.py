"""Households: the people who live together, and the data that they share."""
