"""Receipts of what was done in a person's name: by which consent and how it ended, in a file that anybody can check."""
