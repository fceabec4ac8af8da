"""The work of a worker, under leases and with backoff: turns, deliveries, later work, and upkeep."""
