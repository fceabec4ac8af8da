"""T24: processes die while answers are spoken or held back, in groups, and with follow-ups."""
