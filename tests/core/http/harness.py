"""A server on two addresses, a resolver whose answers a test sets, and clients for both."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from core.http.guarded_client import GuardedClient

WORLD = "127.0.0.2"
"""Stands for a public address; only the check distinguishes it from 127.0.0.1."""
NOT_PUBLIC = "not on the public internet"
"""The text of a refusal."""

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Names(AbstractResolver):
    """Resolve each name to its answers one after another, then to the last one every time."""

    answers: dict[str, list[list[str]]]
    asked: list[str] = field(default_factory=list)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        given = self.answers.get(host)
        if given is None:
            raise OSError("no such name")
        addresses = given.pop(0) if len(given) > 1 else given[0]
        return [
            ResolveResult(hostname=host, host=a, port=port, family=socket.AF_INET, proto=0, flags=0) for a in addresses
        ]

    async def close(self) -> None:
        pass


@dataclass(slots=True)
class Server:
    """Answer by path on 127.0.0.1 and on `WORLD`, and record every request."""

    port: int
    routes: dict[str, Handler] = field(default_factory=dict)
    seen: list[web.Request] = field(default_factory=list)
    at: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        assert request.transport is not None
        self.at.append(request.transport.get_extra_info("sockname")[0])
        return await self.routes[request.path](request)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def leads(self, path: str, to: str, status: int = 302) -> None:
        async def redirect(_: web.Request) -> web.Response:
            return web.Response(status=status, headers={"Location": to})

        self.routes[path] = redirect

    def says(self, path: str, body: bytes = b"hello", **headers: str) -> None:
        async def plain(_: web.Request) -> web.Response:
            return web.Response(body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})

        self.routes[path] = plain


@asynccontextmanager
async def client_for(server: Server, **given: object) -> AsyncIterator[GuardedClient]:
    """Yield a client that is allowed to reach the server, unless `given` says otherwise."""
    client = GuardedClient(**({"allowed_hosts": [f"127.0.0.1:{server.port}"]} | given))  # type: ignore[arg-type]
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def outside(server: Server, **names: list[list[str]]) -> AsyncIterator[GuardedClient]:
    """Yield a client with these names, allowed to use the server's port but none of its hosts."""
    answers = {name.replace("_", "."): given for name, given in names.items()}
    async with client_for(server, allowed_hosts=[], ports=[server.port], resolver=Names(answers)) as client:
        yield client
