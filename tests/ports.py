"""Free ports for servers that are told theirs, so that nobody else gets the same between the look and the start."""

import itertools
import os
import socket
from contextlib import ExitStack, suppress
from functools import cache

_LOWEST, _HIGHEST = 20_000, 32_000
"""Below the range from which the system gives ports to clients (32768 and up on Linux)."""
_SHARES = 8
"""Each process of pytest has its own share of them, by its number."""


def free_port(following: int = 0) -> int:
    """Return a TCP port of loopback that nothing uses, as are so many `following` ones; it is given once in a while."""
    for port in _of_this_process():
        with ExitStack() as stack, suppress(OSError):
            for number in range(port, port + following + 1):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", number))
            return port
    raise AssertionError("the ports never end")


@cache
def _of_this_process() -> "itertools.cycle[int]":
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _SHARES
    size = (_HIGHEST - _LOWEST) // _SHARES
    ports = range(_LOWEST + share * size, _LOWEST + (share + 1) * size)
    # Another run beside this one begins elsewhere.
    begin = os.getpid() * 7 % size
    return itertools.cycle([*ports[begin:], *ports[:begin]])
