"""typeagent's index over the rows, in a thread of its own."""
