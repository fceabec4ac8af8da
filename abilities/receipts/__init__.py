"""Receipts of acts in a person's name: the consent and the result of each, in a file that anybody can check."""
