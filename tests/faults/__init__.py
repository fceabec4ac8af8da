"""The faults of notes on reliability, T1 to T13, and the invariants I1 to I12 that must survive them."""
