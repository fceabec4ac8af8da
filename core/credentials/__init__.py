"""People's secrets, encrypted, and the rotation of keys."""
