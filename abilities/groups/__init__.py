"""Groups: a group of people as somebody of its own, in which the assistant takes part."""
