"""`/metrics`: the counters of a process, and the backlog of the database, for Prometheus."""
