"""Ports of loopback: free ones for servers that are told theirs, and connections from addresses of a test's choice."""

import asyncio
import itertools
import os
import socket
import struct
from contextlib import ExitStack, suppress
from functools import cache

_LOWEST, _HIGHEST = 20_000, 32_000
"""Below the range from which the system gives ports to clients (32768 and up on Linux)."""
_BIND_ADDRESS_NO_PORT = 24
"""Linux's IP_BIND_ADDRESS_NO_PORT, ip(7); Python 3.12 has no name for it."""
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


async def connect_from(source: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a port of loopback from an address of this machine, such as 127.0.0.9.

    A port is chosen as late as the system can, and none stays taken after the end: who binds to port 0 gets one that no
    closed connection waits on, and tests that connect tens of thousands of times leave none.
    """
    client = socket.socket()
    try:
        client.setsockopt(socket.IPPROTO_IP, _BIND_ADDRESS_NO_PORT, 1)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.setblocking(False)
        client.bind((source, 0))
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
        return await asyncio.open_connection(sock=client)
    except BaseException:
        client.close()
        raise


@cache
def _of_this_process() -> "itertools.cycle[int]":
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _SHARES
    size = (_HIGHEST - _LOWEST) // _SHARES
    ports = range(_LOWEST + share * size, _LOWEST + (share + 1) * size)
    # Another run beside this one begins elsewhere.
    begin = os.getpid() * 7 % size
    return itertools.cycle([*ports[begin:], *ports[:begin]])
