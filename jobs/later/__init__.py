"""What happens later, by arq's worker in each worker process: what comes due, is tried again, or is periodic."""
