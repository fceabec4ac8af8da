"""The limits of the code, and that documents, compose file and image tell the truth."""
