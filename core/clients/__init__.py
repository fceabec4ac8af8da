"""The tokens of programs that ask on a person's behalf."""
