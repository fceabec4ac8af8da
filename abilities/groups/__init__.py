"""Groups: a group of people, treated as a person of its own, in which the assistant takes part."""
