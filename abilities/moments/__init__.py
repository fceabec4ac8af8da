"""Times and places as people name them."""
