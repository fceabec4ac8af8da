"""`@tool`, its schema, the registry, and the context that a tool receives."""
