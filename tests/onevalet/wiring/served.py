"""The application of a real web process, its registered addresses, and raw requests to them from many sources."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web

import onevalet.wiring.web
from channels.http.app import build_app
from channels.http.penalties import BadRequests
from core.credentials.secret_keys import SecretKeys
from onevalet.settings import Settings
from operations.console.door import ConsoleDoor
from tests.ports import connect_from, free_port
from workbench.simulator.config import SlackConfig, TelegramConfig, TwilioConfig

KEY = base64.b64encode(b"k" * 32).decode()
KEYS = SecretKeys.from_text(KEY)
PUBLIC_URL = "https://valet.example"
METRICS_TOKEN = "a-token-of-the-metrics"
WEBSOCKET_TOKEN = "a-token-of-the-websocket"
_LOCAL = "http://127.0.0.1:9"
"""Where no provider answers."""


@dataclass(frozen=True, slots=True)
class Address:
    """A method and the pattern of a path that the application has registered."""

    method: str
    pattern: str

    def path(self, *values: str) -> str:
        """Return a path of this pattern; its last value stands for the rest."""
        given = iter(values)
        last = values[-1] if values else "x"
        return re.sub(r"\{[^}]+\}", lambda _: next(given, last), self.pattern)


@dataclass(slots=True)
class Served:
    """The running application."""

    app: web.Application
    port: int

    def addresses(self) -> list[Address]:
        """Return all that is registered, the console's pages too."""
        return [*self._registered()]

    def modules(self) -> set[str]:
        """Return the paths of the modules that answer at them."""
        return {f"{name.replace('.', '/')}.py" for names in self._registered().values() for name in names}

    def _registered(self) -> dict[Address, set[str]]:
        """Return each address, and the names of the modules of its handlers."""
        found: dict[Address, set[str]] = {}
        for route in self.app.router.routes():
            pattern = route.resource.canonical if route.resource is not None else ""
            owner = getattr(getattr(route.handler, "__wrapped__", None), "__self__", None)
            told = [(route.method, pattern, route.handler)]
            if isinstance(owner, ConsoleDoor):
                told = [(inner.method, inner.path, inner.handler) for inner in owner._load()]
            for method, path, handler in told:
                modules = found.setdefault(Address(method, path), set())
                modules |= {handler.__module__, getattr(route.handler, "__module__", "")}
        return found

    async def statuses(self, requests: Iterable[bytes], source: str) -> list[int]:
        """Send raw requests from an address of this machine, many before each answer; return the statuses."""
        waiting, got = list(requests), list[int]()
        while waiting:
            reader, writer = await connect_from(source, self.port)
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while waiting:
                    batch = waiting[:20]
                    writer.write(b"".join(batch))
                    for request in batch:
                        status, is_last = await _answer(reader, has_body=not request.startswith(b"HEAD"))
                        got.append(status)
                        waiting.pop(0)
                        if is_last:
                            raise ConnectionError
            writer.close()
        return got


async def _answer(reader: asyncio.StreamReader, *, has_body: bool) -> tuple[int, bool]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = re.search(r"content-length: (\d+)", head)
    if has_body and length is not None:
        await reader.readexactly(int(length[1]))
    is_endless = "transfer-encoding: chunked" in head
    return int(head.split()[1]), is_endless or "connection: close" in head


def raw(method: str, path: str, headers: Sequence[tuple[str, bytes]] = (), body: bytes = b"") -> bytes:
    """Return a request as it is on the wire."""
    lines = [f"{method} {path} HTTP/1.1".encode("utf-8", "surrogateescape"), b"Host: 127.0.0.1"]
    lines += [name.encode() + b": " + value for name, value in headers]
    if body or method not in ("GET", "HEAD"):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([*lines, b"", b""]) + body


@asynccontextmanager
async def open_served(
    database_url: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    plant: Sequence[web.RouteDef] = (),
    bad_requests: BadRequests | None = None,
) -> AsyncIterator[Served]:
    """Run a web process' application with every channel inside the block, with its own limits unless they are given.

    `plant`: further routes, as somebody might add them.
    """
    built: list[web.Application] = []
    monkeypatch.setenv("WEBSOCKET_TOKENS", f"ann:{WEBSOCKET_TOKEN}")

    def build(*arguments: Any, extra_routes: Iterable[web.AbstractRouteDef], **more: Any) -> web.Application:
        app = build_app(*arguments, extra_routes=[*extra_routes, *plant], bad_requests=bad_requests, **more)
        built.append(app)
        return app

    monkeypatch.setattr(onevalet.wiring.web, "build_app", build)
    twilio, slack, telegram = TwilioConfig(), SlackConfig(), TelegramConfig()
    settings = Settings(
        _env_file=None,
        database_url=database_url,
        redis_url=redis_url,
        port=free_port(),
        public_url=PUBLIC_URL,
        onevalet_secret_keys=(KEY,),
        onevalet_metrics_token=METRICS_TOKEN,
        twilio_account_sid=twilio.account_sid,
        twilio_auth_token=twilio.auth_token,
        twilio_from=twilio.number,
        twilio_api_url=_LOCAL,
        slack_bot_token=slack.bot_token,
        slack_signing_secret=slack.signing_secret,
        slack_api_url=f"{_LOCAL}/",
        telegram_bot_token=telegram.bot_token,
        telegram_webhook_secret="secret-of-the-webhook",
        telegram_api_url=_LOCAL,
        onevalet_channels=("agents.websocket",),
    )
    async with onevalet.wiring.web.open_web(settings) as (port, _):
        yield Served(built[0], port)
