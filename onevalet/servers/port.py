"""A free port for a server that needs the same port when it restarts."""

import random
import socket

# Below Linux's ephemeral range (32768 and up): in that range, a client that reconnects while the server restarts can
# get the server's own port, and then connects to itself and keeps the server out.
_LOWEST, _HIGHEST = 20_000, 32_000


def free_port() -> int:
    """Return a TCP port that nothing uses on 127.0.0.1 now."""
    for _ in range(200):
        port = random.randint(_LOWEST, _HIGHEST)
        if _is_free(port):
            return port
    raise OSError(f"no free port between {_LOWEST} and {_HIGHEST}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
