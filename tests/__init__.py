"""The tests: folders mirror the product's, and what they share stands at the door."""
