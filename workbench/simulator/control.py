"""The control API under /sim, for the page and the tests."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Protocol
from urllib.parse import urlsplit

from aiohttp import web

from workbench.simulator.base import BadAction, Provider, Wire
from workbench.simulator.config import Person
from workbench.simulator.faults import FaultKind, Rule
from workbench.simulator.file_answers import file_answer
from workbench.simulator.journal import Json
from workbench.simulator.people import Roster

_HEARTBEAT = 15.0
_LONGEST = 7 * 86_400
"""Seconds that a fault may name: a Retry-After of days, say."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ENDPOINTS = (
    "twilio.*",
    "twilio.messages.create",
    "twilio.messages.list",
    "slack.*",
    "slack.chat.postMessage",
    "slack.chat.update",
    "slack.views.open",
    "slack.response_url",
    "telegram.*",
    "telegram.sendMessage",
    "telegram.editMessageText",
    "telegram.answerCallbackQuery",
)
"""Usual endpoints for a fault; the page offers these and all endpoints called so far."""


@web.middleware
async def loopback_only(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuse other hosts' names and other pages' scripts.

    A page elsewhere can point its own name at 127.0.0.1 (DNS rebinding: the Host gives it away) or post to us
    blindly (the Origin does). Providers' SDKs send no Origin.
    """
    try:
        host = urlsplit(f"//{request.host}").hostname
    except ValueError:
        host = None
    if host not in _LOOPBACK:
        return _refused("The simulator answers only to 127.0.0.1 and localhost.", 403)
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        return _refused("The simulator takes no requests from other pages.", 403)
    return await handler(request)


class Observer(Protocol):
    """An observer of the acts here: a recorder."""

    def note_act(self, person: str, provider: str, action: str, arguments: dict[str, Json]) -> Callable[[], None]:
        """Note an act before it happens; the returned function is called if it is refused."""
        ...

    def note_person(self, person: Person) -> None:
        """Note that a person was added."""
        ...

    def note_fault(self, rule: Rule) -> None:
        """Note a fault that was set."""
        ...


class Control:
    """The handlers of /sim. `notice` is a sentence at the top of the page, such as the name of the answering model.

    `console`: the address of the assistant's own pages, if it has any. `has_bench`: whether the assistant is available
    under /bench, besides the providers. `replays`: whether it only replays a scenario.
    """

    def __init__(self, wire: Wire, providers: Sequence[Provider], roster: Roster) -> None:
        self.notice = ""
        self.console = ""
        self.has_bench = False
        self.replays = False
        self.observer: Observer | None = None
        self.acting = 0
        """Number of people's acts under way: an app was called, and has not answered yet."""
        self._wire = wire
        self._roster = roster
        self._providers = {provider.name: provider for provider in providers}

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes of the control API."""
        return [
            web.get("/sim/config", self.config),
            web.get("/sim/state", self.state),
            web.get("/sim/people", self.people),
            web.post("/sim/people", self.add_person),
            web.get("/sim/journal", self.journal),
            web.get("/sim/events", self.events),
            web.get("/sim/faults", self.faults),
            web.post("/sim/faults", self.add_fault),
            web.delete("/sim/faults", self.clear_faults),
            web.get("/sim/files/{provider}/{file}", self.file),
            web.post("/sim/reset", self.reset),
            web.post("/sim/{provider}/{action}", self.act),
        ]

    async def config(self, _: web.Request) -> web.Response:
        """Return the page's initial data."""
        called = {call.endpoint for call in self._wire.journal.calls() if call.direction == "out"}
        endpoints = [*_ENDPOINTS, *sorted(called.difference(_ENDPOINTS))]
        told = {
            "notice": self.notice,
            "gateway": self._wire.gateway_url,
            "console": self.console,
            "bench": self.has_bench,
            "replays": self.replays,
        }
        return web.json_response({**told, "endpoints": endpoints})

    async def state(self, _: web.Request) -> web.Response:
        return web.json_response({name: provider.state() for name, provider in self._providers.items()})

    async def people(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(person) for person in self._wire.config.everyone])

    async def add_person(self, request: web.Request) -> web.Response:
        """Add a person: {"name"}; return them with their ids."""
        try:
            person = self._roster.add((await _json_object(request)).get("name"))
        except BadAction as refusal:
            return _refused(str(refusal))
        if self.observer:
            self.observer.note_person(person)
        self._wire.journal.touch()
        return web.json_response(asdict(person))

    async def journal(self, request: web.Request) -> web.Response:
        """List calls in order; `provider`, `about`, `after` (a number) and `last` (so many, 0: all) narrow them."""
        try:
            after, last = (int(request.query.get(name, "0")) for name in ("after", "last"))
        except ValueError:
            return _refused('"after" and "last" must be whole numbers.')
        provider, about = request.query.get("provider", ""), request.query.get("about", "")
        calls = self._wire.journal.calls(provider=provider, about=about, after=max(after, 0))
        return web.json_response([asdict(call) for call in calls[-max(last, 0) :]])

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Stream a "changed" event after changes, and a comment as heartbeat, until the client goes."""
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        stream = web.StreamResponse(headers=headers)
        with suppress(ConnectionError):  # the page was closed
            await self._stream_changes(request, stream)
        return stream

    async def _stream_changes(self, request: web.Request, stream: web.StreamResponse) -> None:
        await stream.prepare(request)
        async with self._wire.journal.listen() as queue:
            await stream.write(b"event: changed\ndata: {}\n\n")
            while not self._wire.stopping.is_set():
                try:
                    async with asyncio.timeout(_HEARTBEAT):
                        await queue.get()
                except TimeoutError:
                    await stream.write(b": heartbeat\n\n")
                    continue
                if not self._wire.stopping.is_set():
                    await stream.write(b"event: changed\ndata: {}\n\n")

    async def faults(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(rule) for rule in self._wire.faults.rules()])

    async def add_fault(self, request: web.Request) -> web.Response:
        """Add a rule: {"endpoint", "kind", "times", "share", "seconds", "status", "location"}."""
        try:
            rule = parse_rule(await _json_object(request))
            self._wire.add_fault(rule)
        except BadAction as refusal:
            return _refused(str(refusal))
        if self.observer:
            self.observer.note_fault(rule)
        self._wire.journal.touch()
        return await self.faults(request)

    async def clear_faults(self, request: web.Request) -> web.Response:
        self._wire.faults.clear()
        self._wire.journal.touch()
        return await self.faults(request)

    async def reset(self, _: web.Request) -> web.Response:
        """Reset everything as if just started; the journal stays, as it is append-only."""
        self._wire.faults.clear()
        for provider in self._providers.values():
            await provider.reset()
        self._wire.journal.touch()
        return web.json_response({"ok": True})

    async def file(self, request: web.Request) -> web.Response:
        """Hand out a file of a conversation, as the provider's app does to its person."""
        provider = self._providers.get(request.match_info["provider"])
        file = provider.file(request.match_info["file"]) if provider else None
        return file_answer(file) if file else _refused("There is no such file.", 404)

    async def act(self, request: web.Request) -> web.Response:
        """Do a person's act: JSON with "person" and the action's arguments."""
        provider = self._providers.get(request.match_info["provider"])
        if provider is None:
            return _refused(f"There is no provider of that name; there are {', '.join(self._providers)}.", 404)
        try:
            arguments = await _json_object(request)
            person = arguments.pop("person", None)
            if not isinstance(person, str) or self._wire.config.person(person) is None:
                known = ", ".join(someone.key for someone in self._wire.config.everyone)
                raise BadAction(f'"person" must be one of {known}.')
            result = await self._do(provider, person, request.match_info["action"], arguments)
        except BadAction as refusal:
            return _refused(str(refusal))
        self._wire.journal.touch()
        return web.json_response(result)

    async def _do(self, provider: Provider, person: str, action: str, arguments: dict[str, Json]) -> Json:
        self.acting += 1
        try:
            return await self._do_noted(provider, person, action, arguments)
        finally:
            self.acting -= 1

    async def _do_noted(self, provider: Provider, person: str, action: str, arguments: dict[str, Json]) -> Json:
        if self.observer is None:
            return await provider.act(person, action, arguments)
        take_back = self.observer.note_act(person, provider.name, action, dict(arguments))
        try:
            return await provider.act(person, action, arguments)
        except BadAction:
            take_back()
            raise


def parse_rule(values: dict[str, Json]) -> Rule:
    """Return a fault rule from JSON. Raises BadAction with the error."""
    known = {"endpoint", "kind", "times", "share", "seconds", "status", "location"}
    if strange := set(values) - known:
        raise BadAction(f"A fault rule has no {', '.join(sorted(strange))}.")
    endpoint, kind = values.get("endpoint"), values.get("kind")
    if not isinstance(endpoint, str) or not endpoint:
        raise BadAction('"endpoint" must name an endpoint, such as "twilio.messages.create" or "slack.*".')
    if kind not in list(FaultKind):
        raise BadAction(f'"kind" must be one of {", ".join(FaultKind)}.')
    times, status = _number(values, "times", 1, 0, 1_000_000), _number(values, "status", 503, 200, 599)
    share, seconds = _number(values, "share", 1.0, 0, 1), _number(values, "seconds", 1.0, 0, _LONGEST)
    location = values.get("location", "")
    if not isinstance(location, str) or not location.isprintable():
        raise BadAction('"location" must be a URL.')
    return Rule(endpoint, FaultKind(kind), int(times), float(share), float(seconds), int(status), location)


def _number(values: dict[str, Json], name: str, default: float, low: float, high: float) -> float:
    value = values.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadAction(f'"{name}" must be a number from {low} to {high}.')
    return value


async def _json_object(request: web.Request) -> dict[str, Json]:
    # A form or text/plain post needs no consent of the browser; JSON does.
    if request.content_type != "application/json":
        raise BadAction("The body must be JSON, sent as application/json.")
    try:
        values: Json = json.loads(await request.read())
    except ValueError:
        raise BadAction("The body is not JSON.") from None
    if not isinstance(values, dict):
        raise BadAction("The body must be a JSON object.")
    return values


def _refused(sentence: str, status: int = 400) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
