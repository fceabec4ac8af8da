"""Promise 5 with real processes and real SIGKILLs, between any two steps of a turn."""
