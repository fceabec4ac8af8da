"""What a turn has done so far, so that a successor repeats none of it."""
