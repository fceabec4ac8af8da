"""What a worker runs, under leases and with backoff: turns, deliveries, what is later, and upkeep."""
