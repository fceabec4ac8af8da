"""A person's data as a whole: exported as an archive, deleted, and imported elsewhere."""
