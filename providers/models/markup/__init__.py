"""The markup that models write into their text: thoughts, channels and calls, read so that no person reads it."""
