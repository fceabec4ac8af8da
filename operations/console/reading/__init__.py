"""What the pages show, read from the database a page at a time."""
