"""What a worker runs, under leases and with backoff: turns, deliveries, tasks, and what is periodic."""
