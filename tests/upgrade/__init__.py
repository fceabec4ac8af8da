"""The newest code over the database of the previous release."""
