"""A receiver of webhooks on a port of this machine, an endpoint that leads to it, and the sender of a worker."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from aiohttp import web
from standardwebhooks.webhooks import Webhook

from abilities.webhooks.endpoints import Endpoint, Endpoints, EventKind
from abilities.webhooks.outbox import WebhookOutbox
from abilities.webhooks.sending import WebhookSender
from abilities.webhooks.signing import as_text, secrets_of
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys
from core.http.guarded_client import GuardedClient
from tests.core.credentials.harness import KEYS
from tests.core.harness import Store
from tests.eventually import never
from tests.patience import PATIENCE

PATH, FAILS = "/hook", "/fails"


@dataclass(frozen=True, slots=True)
class Called:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """Return the id by which the receiver knows repeats."""
        return self.headers["webhook-id"]

    @property
    def payload(self) -> dict[str, Any]:
        """Return the body."""
        payload: dict[str, Any] = json.loads(self.body)
        return payload

    def verified(self, secret: str) -> dict[str, Any]:
        """Return the body as the library of Standard Webhooks reads it; raises if the signature is wrong."""
        payload: dict[str, Any] = Webhook(secret).verify(self.body.decode(), dict(self.headers))
        return payload


@dataclass(slots=True)
class Receiver:
    """Answers with 200, or for the next calls as `answers` says: a status, or a way to misbehave."""

    port: int = 0
    answers: deque[int | str] = field(default_factory=deque)
    calls: list[Called] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}{PATH}"

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Record a request and answer it."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.calls.append(Called(request.path, headers, await request.read()))
        self.called.set()
        usual = 500 if request.path.endswith(FAILS) else 200
        match self.answers.popleft() if self.answers else usual:
            case "hang":
                await never()
            case "drip":
                response = web.StreamResponse(headers={"Content-Length": "1000000"})
                await response.prepare(request)
                await response.write(b".")
                await never()
            case "close":
                assert request.transport is not None
                request.transport.close()
            case 302:
                return web.Response(status=302, headers={"Location": f"{self.url}/elsewhere"})
            case int() as status:
                return web.Response(status=status)
        return web.Response()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """Serve a receiver."""
    receiver = Receiver()
    runner = web.ServerRunner(web.Server(receiver.answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.port = int(runner.addresses[0][1])
    try:
        yield receiver
    finally:
        await runner.cleanup()


@dataclass(slots=True)
class Webhooks:
    """An endpoint, its receiver, and a worker's sender."""

    store: Store
    receiver: Receiver
    endpoint: Endpoint
    sender: WebhookSender

    @property
    def endpoints(self) -> Endpoints:
        """Return the endpoints."""
        return Endpoints(self.store.database, self.store.make_id)

    def secret(self, keys: SecretKeys = KEYS, generation: int = 1) -> str:
        """Return a secret as the receiver has it."""
        return as_text(secrets_of(keys, self.endpoint.id, generation, None, Clock().machine_now())[0])

    async def send(self) -> int:
        """Make all calls that are due; return their number."""
        made = 0
        while claimed := await self.sender.claim(None):
            await self.sender.run(claimed)
            made += 1
        return made

    async def later(self, passed: timedelta = timedelta(hours=2), *, ages: bool = False) -> int:
        """Let time pass, then make all calls that are due. `ages`: it has also passed since what happened."""
        await self.store.admin.execute(
            "update webhook_messages set next_attempt_at = next_attempt_at - $1::interval,"
            " at = case when $2 then at - $1::interval else at end",
            passed,
            ages,
        )
        await self.store.admin.execute("update webhook_endpoints set retry_at = retry_at - $1::interval", passed)
        return await self.send()

    async def rows(self) -> list[tuple[object, ...]]:
        """Return (kind, state, attempts, status) of every message, in order."""
        statement = "select kind, state, attempts, status from webhook_messages order by at, kind"
        return [tuple(row) for row in await self.store.admin.fetch(statement)]


@asynccontextmanager
async def open_webhooks(
    store: Store,
    *kinds: EventKind,
    keys: SecretKeys = KEYS,
    named: bool = True,
    timeout: float = PATIENCE,
) -> AsyncIterator[Webhooks]:
    """Yield an endpoint that is told of these kinds, by default of all. `named`: whether its host may be inside."""
    async with receiving() as receiver:
        endpoint = await Endpoints(store.database, store.make_id).add(receiver.url, kinds or list(EventKind))
        hosts = [f"127.0.0.1:{receiver.port}"] if named else []
        http = GuardedClient(allowed_hosts=hosts, ports=[receiver.port])
        outbox = WebhookOutbox(store.database, store.make_id)
        sender = WebhookSender(outbox, http, keys, "w1", Clock(), store.wakeups, lambda: 0.0, timeout)
        try:
            yield Webhooks(store, receiver, endpoint, sender)
        finally:
            await http.close()
