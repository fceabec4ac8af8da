"""The markup that models write into their text: thoughts, channels and calls, taken out before people read the text."""
