"""Messages to other people on a person's behalf, and their answers."""
