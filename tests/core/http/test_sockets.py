"""Sockets of the guarded client: to the address that passed, or none."""

import asyncio
import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from core.http.address_guard import Barred
from core.http.guarded_client import GuardedClient

PORTS = frozenset({993})


class Answers(AbstractResolver):
    """A resolver that has one answer for everything."""

    def __init__(self, *hosts: str) -> None:
        self.hosts = hosts

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host=name, port=port, family=2, proto=0, flags=0) for name in self.hosts]

    async def close(self) -> None: ...


@pytest.mark.parametrize("resolved", ["127.0.0.1", "10.1.2.3", "169.254.169.254"])
async def test_a_name_that_resolves_to_a_private_address_is_barred(resolved: str) -> None:
    client = GuardedClient(resolver=Answers(resolved))
    with pytest.raises(Barred):
        await client.connect("mail.example.com", 993, PORTS)


@pytest.mark.parametrize("host", ["127.1", "0x7f000001", "a b", "user@h", "[::1]"])
async def test_a_host_that_is_disguised_is_barred(host: str) -> None:
    with pytest.raises(Barred):
        await GuardedClient().connect(host, 993, PORTS)


async def test_other_ports_are_barred_unless_the_operator_named_them() -> None:
    with pytest.raises(Barred):
        await GuardedClient(resolver=Answers("1.1.1.1")).connect("mail.example.com", 22, PORTS)
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    named = GuardedClient(allowed_hosts=[f"mail.example.com:{port}"], resolver=Answers("127.0.0.1"))
    with await named.connect("MAIL.example.com.", port, PORTS) as connected:
        assert connected.getpeername() == ("127.0.0.1", port)
    server.close()


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = GuardedClient(allowed_hosts=[f"mail.example.com:{port}"], resolver=Answers("127.0.0.9", "127.0.0.1"))
    with await client.connect("mail.example.com", port, PORTS) as connected:
        assert connected.getpeername() == ("127.0.0.1", port)
    server.close()
    with pytest.raises(OSError, match=r"(?i)refused|connect"):
        await client.connect("mail.example.com", port, PORTS)
