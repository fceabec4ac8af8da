"""Requests that belong together have one allowance, over real sockets."""

import asyncio

import pytest
from aiohttp import web

from core.errors import ToolFailed
from core.http.guarded_client import GuardedClient
from core.http.operation import Operation
from core.http.peer import Allowance, LeftAlone, Pauses
from tests.core.http.harness import Server, client_for
from tests.eventually import never
from tests.patience import PATIENCE

KB = 1024
SENTENCE = "The server 127.0.0.1 sent too much data, so I leave it alone for now."


async def ask(operation: Operation, server: Server, path: str = "/") -> bytes:
    return (await operation.request("GET", server.url(path), max_bytes=100 * KB)).body


async def ask_often(operation: Operation, server: Server) -> None:
    for _ in range(20):
        await ask(operation, server)


def operation_of(http: GuardedClient, allowance: Allowance, person: str = "ann", *, pauses: Pauses) -> Operation:
    return Operation(http, allowance, pauses, person, "home")


@pytest.mark.parametrize(
    "allowance", [Allowance(50 * KB, 100, PATIENCE), Allowance(100 * KB, 4, PATIENCE)], ids=["bytes", "answers"]
)
async def test_answers_that_are_each_small_end_together(server: Server, allowance: Allowance) -> None:
    server.says("/", b"x" * 10 * KB)
    pauses = Pauses("test")
    async with client_for(server) as http:
        operation = operation_of(http, allowance, pauses=pauses)
        with pytest.raises(LeftAlone, match=SENTENCE):
            await ask_often(operation, server)
        asked = len(server.seen)
        assert asked in (5, 6)
        with pytest.raises(LeftAlone):
            await ask(operation_of(http, allowance, pauses=pauses), server)
        assert len(server.seen) == asked  # it is left alone, for this person
        assert await ask(operation_of(http, allowance, "ben", pauses=pauses), server)


async def test_an_answer_is_read_no_further_than_the_operation_has_room(server: Server) -> None:
    server.says("/", b"x" * 90 * KB)
    async with client_for(server) as http:
        operation = operation_of(http, Allowance(20 * KB, 9, PATIENCE), pauses=Pauses("test"))
        with pytest.raises(LeftAlone):
            await ask(operation, server)


async def test_requests_that_each_keep_their_time_end_together(server: Server) -> None:
    async def silent(_: web.Request) -> web.Response:
        await never()
        raise AssertionError

    server.routes["/"] = silent
    async with client_for(server) as http:
        with pytest.raises(LeftAlone, match=SENTENCE):
            await ask(operation_of(http, Allowance(KB, 9, 0.3), pauses=Pauses("test")), server)


async def test_requests_side_by_side_exceed_it_once(server: Server) -> None:
    server.says("/", b"x" * 10 * KB)
    pauses = Pauses("test")
    async with client_for(server) as http:
        operation = operation_of(http, Allowance(20 * KB, 100, PATIENCE), pauses=pauses)
        told = await asyncio.gather(*(ask(operation, server) for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(one, LeftAlone) for one in told) >= 6
    assert pauses.exceeded("ann", "home") == 4.0  # the second time


async def test_what_fails_otherwise_is_told_as_it_is(server: Server) -> None:
    server.leads("/", "/")
    pauses = Pauses("test")
    async with client_for(server) as http:
        with pytest.raises(ToolFailed, match="redirects too often"):
            await ask(operation_of(http, Allowance(KB, 9, PATIENCE), pauses=pauses), server)
        server.says("/")
        assert await ask(operation_of(http, Allowance(KB, 9, PATIENCE), pauses=pauses), server) == b"hello"
