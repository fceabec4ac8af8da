"""`/metrics`: what a process counted, and what the database holds, for Prometheus."""
