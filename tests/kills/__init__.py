"""Kills a worker between any two steps of a turn: promise 5 with real processes and real SIGKILLs."""
