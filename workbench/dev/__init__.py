"""`dev`: everything on this machine, with simulated providers and seeded people."""
