"""The data of the pages, read from the database a page at a time."""
