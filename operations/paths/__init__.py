"""The path of a turn and of a message as they are stored, for `trace`, `replay` and the console."""
