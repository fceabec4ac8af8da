"""What a worker runs, under leases and with backoff: turns, deliveries, and upkeep."""
