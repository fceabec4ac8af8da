"""Starts a worker again when it dies or hangs; its health file and systemd's signals."""
