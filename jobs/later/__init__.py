"""Later work, by arq's worker in each worker process: rows that come due, retries, and periodic work."""
