"""The frame of every emulated provider: the wire to the gateway, faults, and the record."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Literal, Protocol
from urllib.parse import parse_qsl

import aiohttp
import structlog
from aiohttp import web

from workbench.simulator.config import Clock, Person, SimulatorConfig
from workbench.simulator.faults import Faults, Rule
from workbench.simulator.journal import Call, Journal, Json
from workbench.simulator.keeping import Content, Drawer
from workbench.simulator.misbehaving import FaultAnswer, misbehave

log = structlog.get_logger()

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
type EndpointName = str | Callable[[web.Request], str]

ABOUT = web.RequestKey("about", str)
"""A handler sets `request[ABOUT]` to the id of the message that the call is about."""

NOTE = web.RequestKey("note", dict[str, Json])
"""A handler may set `request[NOTE]` to the journal's record of its answer, for streamed answers."""

_TEXT_LIMIT = 20_000
_FILES = ("image/", "audio/", "video/", "application/octet-stream", "application/pdf")


@dataclass(frozen=True, slots=True)
class Answer:
    """The gateway's answer; `headers` finds a name in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Reasons why no answer came."""

    reason: Literal["connect_failed", "timeout", "reset"]


class BadAction(Exception):
    """A person cannot do that; the message is a sentence for the caller."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file of a conversation as a person opens it."""

    name: str
    content_type: str
    data: Content


class Provider(Protocol):
    """An emulated provider. Its routes carry their whole path (`/slack/api/chat.postMessage`)."""

    @property
    def name(self) -> str:
        """Return the word in paths and in the journal: twilio, slack, telegram."""
        ...

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Return the routes of the emulated API."""
        ...

    async def stop(self) -> None: ...

    @property
    def delivers(self) -> bool:
        """Return whether something that people did is on its way to the gateway still."""
        ...

    def join(self, person: Person) -> None:
        """Make room for a person who was added."""
        ...

    async def reset(self) -> None:
        """Delete all messages and settings, as if just started."""
        ...

    def save(self, drawer: Drawer) -> bytes:
        """Return all that the provider knows, as `load` takes it."""
        ...

    def load(self, kept: bytes, drawer: Drawer) -> None:
        """Restore the state of an earlier run. Raises pydantic's `ValidationError`."""
        ...

    def resume(self) -> None:
        """Continue work that a stop interrupted, once the gateway is there."""
        ...

    def state(self) -> Json:
        """Return the page's data, by person: messages with id, direction, text, status, and the like."""
        ...

    async def act(self, person_key: str, action: str, arguments: dict[str, Json]) -> Json:
        """Do a person's act ("say", "press", …) and return the result. Raises BadAction."""
        ...

    def file(self, file_id: str) -> OpenedFile | None:
        """Return a file that a person sees in a conversation, or None."""
        ...


class Wire:
    """Everything a provider shares with the others."""

    def __init__(self, config: SimulatorConfig, clock: Clock) -> None:
        self.config = config
        self.clock = clock
        self.journal = Journal(config.journal_path)
        self.faults = Faults(config.seed)
        self.endpoints: set[str] = set()
        """The names of all endpoints that a fault rule can match."""
        self.stopping = asyncio.Event()
        self.url = ""
        self.gateway_url = config.gateway_url.rstrip("/")
        self.public_url = (config.public_url or config.gateway_url).rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def connect_gateway(self, url: str, public_url: str = "") -> None:
        """Set the gateway's address, once its port is known."""
        self.gateway_url = url.rstrip("/")
        self.public_url = (public_url or url).rstrip("/")

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())

    async def close(self) -> None:
        self.stopping.set()
        await self.cancel_spawned()
        if self._session:
            await self._session.close()
        self.journal.close()

    async def cancel_spawned(self, prefix: str = "") -> None:
        """End the background work whose name begins with `prefix` ("twilio:"), for a reset."""
        current = asyncio.current_task()
        tasks = [task for task in self._tasks if task is not current and task.get_name().startswith(prefix)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def spawn(self, work: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        """Run in the background, keeping the reference and logging errors."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def is_busy(self, prefix: str) -> bool:
        """Return whether any background work is running whose name begins with `prefix`."""
        return any(task.get_name().startswith(prefix) for task in self._tasks)

    async def wait(self, seconds: float) -> None:
        """Wait as the provider would: seconds of its time, at the simulator's pace."""
        await self.clock.sleep(timedelta(seconds=seconds * self.config.pace))

    def now(self) -> float:
        """Return people's time in Unix seconds."""
        return self.clock.now().timestamp()

    def reach(self, url: str) -> str:
        """Return the gateway's real address for a path, or for a URL under the public address."""
        if url.startswith("/"):
            return self.gateway_url + url
        if self.public_url and url.startswith(self.public_url):
            return self.gateway_url + url[len(self.public_url) :]
        return url

    async def call_gateway(
        self,
        provider: str,
        endpoint: str,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        about: str = "",
        timeout: float | aiohttp.ClientTimeout = 15.0,
    ) -> Answer | NoAnswer:
        """Call the gateway as the provider does, and record it.

        `path` is a path with query, or an absolute URL (signed URLs under the public URL are reached at the gateway's
        real address; fragments are never sent). `timeout` is in the provider's seconds.
        """
        begun, at = time.perf_counter(), self.now()
        outcome = await self._exchange(method, self.reach(path).split("#", 1)[0], headers, body, timeout)
        duration = (time.perf_counter() - begun) * 1000
        status = outcome.status if isinstance(outcome, Answer) else 0
        asked = {"method": method, "url": path, **_shown(headers, body)}
        self.journal.add(Call(at, provider, "in", endpoint, status, asked, _told(outcome), about, duration))
        return outcome

    def add_fault(self, rule: Rule) -> None:
        """Add a fault rule. Raises BadAction if no endpoint has a name that it matches."""
        if not any(fnmatchcase(name, rule.endpoint) for name in self.endpoints):
            near = get_close_matches(rule.endpoint, self.endpoints, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise BadAction(f"No endpoint is called {rule.endpoint}.{hint}")
        self.faults.add(rule)

    def endpoint(
        self, name: EndpointName, fault_answer: FaultAnswer, names: Iterable[str] = ()
    ) -> Callable[[Handler], Handler]:
        """Wrap a handler of an emulated API: faults first, and every exchange in the journal.

        `name` is matched by rules (`twilio.messages.create`), or is a function of the request; then `names` has all its
        results. `fault_answer` makes a rate limit or a server error in the provider's own words.
        """
        self.endpoints.update([name] if isinstance(name, str) else names)

        def wrap(handler: Handler) -> Handler:
            async def run(request: web.Request) -> web.StreamResponse:
                label = name if isinstance(name, str) else name(request)
                return await self._serve(label, handler, fault_answer, request)

            return run

        return wrap

    async def _serve(
        self, name: str, handler: Handler, fault_answer: FaultAnswer, request: web.Request
    ) -> web.StreamResponse:
        begun, at = time.perf_counter(), self.now()
        asked = await _asked(request)
        rule = self.faults.take(name)
        answer: web.StreamResponse | None = None
        if rule is None or rule.kind.accepts:
            answer = await _answered(handler, request)
        reported: Json = _answer_json(request, answer) if answer is not None else None
        if rule is not None:
            answer = await misbehave(rule, request, fault_answer, self.stopping)
            reported = {"fault": rule.kind.value, "would_have_answered": reported}
        status, duration = answer.status if answer is not None else 0, (time.perf_counter() - begun) * 1000
        provider, about = name.split(".", 1)[0], request.get(ABOUT, "")
        self.journal.add(Call(at, provider, "out", name, status, asked, reported, about, duration))
        # Once the transport is aborted nothing is written any more; aiohttp wants an answer all the same.
        return answer if answer is not None else web.Response(status=499)

    async def _exchange(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes,
        timeout: float | aiohttp.ClientTimeout,
    ) -> Answer | NoAnswer:
        if self._session is None:
            raise RuntimeError("the wire is not open")
        limit = aiohttp.ClientTimeout(total=timeout) if isinstance(timeout, int | float) else timeout
        try:
            async with self._session.request(
                method, url, headers=headers, data=body, timeout=self._patient(limit), allow_redirects=False
            ) as answer:
                return Answer(answer.status, answer.headers, await answer.read())
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            return NoAnswer("connect_failed")
        except TimeoutError:
            return NoAnswer("timeout")
        except (aiohttp.ClientError, OSError):
            return NoAnswer("reset")

    def _patient(self, limit: aiohttp.ClientTimeout) -> aiohttp.ClientTimeout:
        factor = self.config.patience

        def scaled(value: float | None) -> float | None:
            return None if value is None else value * factor

        return aiohttp.ClientTimeout(
            total=scaled(limit.total),
            connect=scaled(limit.connect),
            sock_connect=scaled(limit.sock_connect),
            sock_read=scaled(limit.sock_read),
        )

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("simulator_task_failed", task=task.get_name(), exc_info=error)


async def _answered(handler: Handler, request: web.Request) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as refusal:
        return refusal


async def _asked(request: web.Request) -> Json:
    asked: dict[str, Json] = {"method": request.method, "url": request.path_qs}
    if request.content_type == "multipart/form-data":
        # Only post() may read it: it caches the parts for the handler.
        fields = await request.post()
        body: dict[str, Json] = {
            name: value if isinstance(value, str) else f"<file {getattr(value, 'filename', '')}>"
            for name, value in fields.items()
        }
        return asked | _shown(request.headers, b"") | {"body": body}
    return asked | _shown(request.headers, await request.read())


def _shown(headers: Mapping[str, str], body: bytes) -> dict[str, Json]:
    shown: Json = {name: value for name, value in headers.items() if name.lower() not in ("authorization", "cookie")}
    return {"headers": shown, "body": _parsed(headers.get("Content-Type", ""), body)}


def _parsed(kind: str, body: bytes) -> Json:
    """Return a form as an object (a list if a name repeats), JSON as JSON, a file as its length, else the text."""
    if kind.startswith(_FILES):
        return f"<{len(body)} bytes>"
    text = body.decode("utf-8", "replace")
    if kind.startswith("application/x-www-form-urlencoded"):
        form: dict[str, Json] = {}
        for name, value in parse_qsl(text, keep_blank_values=True):
            known = form.get(name)
            form[name] = value if known is None else [*known, value] if isinstance(known, list) else [known, value]
        return form
    if "json" in kind:
        try:
            shown: Json = json.loads(text)
        except ValueError:
            return text[:_TEXT_LIMIT]
        return shown
    return text[:_TEXT_LIMIT]


def _told(outcome: Answer | NoAnswer) -> Json:
    if isinstance(outcome, NoAnswer):
        return {"no_answer": outcome.reason}
    return {"status": outcome.status, **_shown(outcome.headers, outcome.body)}


def _answer_json(request: web.Request, answer: web.StreamResponse) -> Json:
    note = request.get(NOTE)
    if note is not None:
        return dict(note)
    shown: dict[str, Json] = {"status": answer.status}
    if isinstance(answer, web.Response) and isinstance(answer.body, bytes | bytearray):
        return shown | _shown(answer.headers, bytes(answer.body))
    return shown | _shown(answer.headers, b"") | {"body": None}
