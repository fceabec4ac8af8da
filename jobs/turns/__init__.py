"""Turns as a worker runs them: claim a lane, run its turn, show what it does meanwhile, and send what came of it."""
