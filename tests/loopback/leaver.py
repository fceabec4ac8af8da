"""What a forked process runs that tries to reach another machine."""

import socket


def main() -> None:
    """Try it."""
    socket.create_connection(("192.0.2.7", 9), 0.01)
