"""A person's data as a whole: taken out as an archive, deleted, and taken in elsewhere."""
