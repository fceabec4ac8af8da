"""The contract of a channel: one harness for each channel says how its people and its provider act."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import aiohttp
import pytest
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from multidict import CIMultiDict
from yarl import URL

from channels.http.app import build_app, serve
from core.errors import StoreUnavailable
from core.messaging.channels import Channel, InboundSink, NotificationChannel, Part, Received, Target
from core.messaging.inbound import Inbound
from core.messaging.messages import (
    Action,
    Address,
    Form,
    InboundMessage,
    Media,
    OutboundKind,
    OutboundMessage,
    Press,
    SenderProfile,
)
from core.messaging.overview import Overview, OverviewSource
from tests.contract.canaries import PEOPLE, SLACK, TELEGRAM, TWILIO, marked
from tests.eventually import eventually
from tests.patience import PATIENCE
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock
from workbench.simulator.faults import FaultKind, Rule
from workbench.simulator.journal import Call

PUBLIC_URL = "https://valet.example.com"
NOWHERE = "http://127.0.0.1:9"
ANSWER_SECONDS = 1.5
"""After which a hurried sender takes an answer for lost."""
WORLD = SimulatorConfig(public_url=PUBLIC_URL, people=PEOPLE, twilio=TWILIO, slack=SLACK, telegram=TELEGRAM, pace=0.002)

type Headers = CIMultiDict[str]


def exempt(**reasons: str) -> pytest.MarkDecorator:
    """Exempt channels from a case, each with the reason why it cannot do what the case asks."""
    return pytest.mark.exempt(**reasons)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the gateway as it arrived; `status` is that of its answer."""

    path: str
    headers: Headers
    body: bytes
    status: int = 0

    def without(self, names: Sequence[str]) -> "Request":
        """Return the request without these headers."""
        headers = self.headers.copy()
        for name in names:
            headers.popall(name, None)
        return replace(self, headers=headers)

    def with_headers(self, headers: Mapping[str, str]) -> "Request":
        """Return the request with these headers set."""
        fresh = self.headers.copy()
        fresh.update(headers)
        return replace(self, headers=fresh)

    def twice(self, name: str) -> "Request":
        """Return the request with a header repeated."""
        headers = self.headers.copy()
        headers.add(name, headers[name])
        return replace(self, headers=headers)


@dataclass(frozen=True, slots=True)
class Bubble:
    """A message of ours as a person sees it. `code` is its code block; buttons are (label, token)."""

    id: str
    text: str
    code: str = ""
    buttons: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class MemorySink:
    """An inbox in memory that recognises keys."""

    known: set[str] = field(default_factory=set)

    async def accept(self, inbound: Inbound) -> Received:
        """Record the keys."""
        keys = set(getattr(inbound, "keys", ()))
        duplicate = bool(keys & self.known)
        self.known |= keys
        return Received(id=f"row_{len(self.known)}", duplicate=duplicate)


@dataclass(slots=True)
class Sink:
    """Wrap the real inbox or one in memory: count calls, hold them back, fail them, record what was new."""

    inner: InboundSink
    calls: int = 0
    failures: int = 0
    """How many of the next calls find the store unavailable."""
    door: asyncio.Event | None = None
    """Nothing is committed until this is set."""
    kept: list[Inbound] = field(default_factory=list)
    said: str = ""
    form: Form | None = None
    """The reply to a press."""

    async def overview(self, address: Address, user_key: str) -> Overview | None:
        """Pass it on."""
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")
        return await self.inner.overview(address, user_key) if isinstance(self.inner, OverviewSource) else None

    async def language(self, address: Address, user_key: str) -> str:
        """Pass it on."""
        return await self.inner.language(address, user_key) if isinstance(self.inner, OverviewSource) else ""

    async def accept(self, inbound: Inbound) -> Received:
        """Pass it on. Profiles arrive at any time, as the answers to our own questions, and do not count."""
        if isinstance(inbound, SenderProfile):
            return await self.inner.accept(inbound)
        self.calls += 1
        if self.door is not None:
            await self.door.wait()
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")
        received = await self.inner.accept(inbound)
        if not received.duplicate:
            self.kept.append(inbound)
        if isinstance(inbound, Press) and (self.said or self.form):
            return replace(received, said=self.said, form=self.form)
        return received

    @property
    def presses(self) -> list[Press]:
        """Return the presses and the submitted forms."""
        return [item for item in self.kept if isinstance(item, Press)]

    @property
    def messages(self) -> list[InboundMessage]:
        """Return the messages that get a turn."""
        return [item for item in self.kept if isinstance(item, InboundMessage)]


class ChannelHarness(ABC):
    """One channel, really served, connected to its emulated provider. The person is Ada unless another is named."""

    name: ClassVar[str]
    provider: ClassVar[str]
    path: ClassVar[str]
    sending: ClassVar[str]
    """The sending endpoint, as named by fault rules and the journal."""
    proof: ClassVar[tuple[str, ...]]
    """The headers that prove a request's origin; the last one is the secret part."""
    account: ClassVar[str]
    has_buttons: ClassVar[bool] = True
    """Whether cards have buttons; where they have none, words decide."""

    def __init__(self, simulator: Simulator, sink: Sink) -> None:
        self.simulator = simulator
        self.sink = sink
        self.requests: list[Request] = []
        self.gateway = ""
        self.channel = self.make_channel()
        self.sender = self.make_sender()
        self._http: aiohttp.ClientSession | None = None

    # What differs from channel to channel.

    @abstractmethod
    def make_channel(self, *, wrong_token: bool = False) -> Channel:
        """Create the inbound channel."""

    @abstractmethod
    def make_sender(self, *, api_url: str = "", seconds: float = PATIENCE) -> NotificationChannel:
        """Create the outbound channel, by default to the emulated provider, which has `seconds` to answer."""

    @abstractmethod
    async def prepare(self) -> None:
        """Make the provider call the gateway."""

    @abstractmethod
    async def say(self, text: str, person: str = "ada") -> None:
        """Let a person write; return before the provider has notified us."""

    @abstractmethod
    async def redeliver(self) -> None:
        """Let the provider deliver Ada's last message again."""

    @abstractmethod
    async def send_file(self) -> None:
        """Let Ada send a file."""

    @abstractmethod
    def is_settled(self) -> bool:
        """Return whether the provider has nothing left to deliver."""

    @abstractmethod
    def address(self, person: str = "ada") -> Address:
        """Return where a person is reached."""

    @abstractmethod
    def bubbles(self, person: str = "ada") -> list[Bubble]:
        """Return our messages as a person sees them, in order."""

    @abstractmethod
    def signed(self, request: Request, secret: str = "") -> Request:
        """Sign a request again, by default with the right secret."""

    async def press(self, bubble: Bubble, number: int = 0, person: str = "ada") -> None:
        """Let a person press a button, counted from 0; return before the provider has notified us."""
        raise AssertionError(f"{self.name} has no button {number} under {bubble.id} for {person}")

    async def react(self, bubble: Bubble, emoji: str, person: str = "ada", *, taken_back: bool = False) -> None:
        """Let a person react with a thumb, or take that back; return before the provider has notified us."""
        raise AssertionError(f"nobody reacts {emoji} to {bubble.id} on {self.name} ({person}, {taken_back})")

    async def reacted(self, bubble: Bubble, emoji: str, person: str = "ada", *, taken_back: bool = False) -> None:
        """Let a person react, and wait until the provider has notified us or given up."""
        await self.react(bubble, emoji, person, taken_back=taken_back)
        await self.settled()

    def reactions(self, person: str = "ada") -> list[str]:
        """Return our reactions to what a person wrote, in order."""
        return []

    def whispers(self, person: str = "ada") -> list[str]:
        """Return the replies to a person's presses, which only they see."""
        return []

    async def group_say(
        self, text: str, person: str = "ada", *, mention: bool = True, reply_to: str = ""
    ) -> dict[str, Any]:
        """Let a person write in the group, `mention`ing us or not; return what the provider calls the message."""
        raise AssertionError(f"{self.name} has no groups, in which {person} says {text!r} ({mention}, {reply_to})")

    def group_texts(self) -> list[str]:
        """Return what we said in the group, in order."""
        return []

    async def group_set(self, person: str = "ada", **changes: Any) -> None:
        """Let a person change the group: `title`, `removed` (the bot), `privacy` (whether we hear all)."""
        raise AssertionError(f"{self.name} has no groups, in which {person} changes {changes}")

    def group_ids(self) -> list[str]:
        """Return the provider's ids of what we said in the group, in order."""
        return []

    async def act(self, action: str, person: str = "ada", **arguments: Any) -> dict[str, Any]:
        """Let a person do something at the provider."""
        provider = self.simulator.providers[self.provider]
        return cast(dict[str, Any], await provider.act(person, action, arguments))

    # What is the same everywhere.

    async def serve(self, http: aiohttp.ClientSession, port: int) -> None:
        """Connect provider and gateway, once the gateway listens."""
        self._http, self.gateway = http, f"http://127.0.0.1:{port}"
        self.simulator.wire.connect_gateway(self.gateway, PUBLIC_URL)
        await self.channel.identify()
        await self.channel.start()
        await self.prepare()

    async def said(self, text: str, person: str = "ada") -> None:
        """Let a person write, and wait until the provider has notified us or given up."""
        await self.say(text, person)
        await self.settled()

    async def wrote(self, text: str, person: str = "ada") -> dict[str, Any]:
        """Let a person write, and return what the provider calls the message."""
        told = await self.act("say", person, text=text)
        await self.settled()
        return told

    async def edited(self, message: Mapping[str, Any], text: str, person: str = "ada") -> None:
        """Let a person change a message of theirs."""
        named = {name: message[name] for name in ("ts", "message_id") if name in message}
        await self.act("edit", person, text=text, **named)
        await self.settled()

    async def meet(self, person: str = "ada") -> None:
        """Let a person write first, as some providers require, and clear the records of it."""
        await self.said(marked("hello"), person)
        self.sink.kept.clear()
        self.requests.clear()

    async def settled(self) -> None:
        """Wait until the provider has nothing left to deliver."""
        await eventually(self.is_settled)

    async def post(self, request: Request) -> int:
        """Send a request to the gateway as it is; return the status."""
        assert self._http is not None
        headers = request.headers.copy()
        for name in ("Host", "Content-Length"):
            headers.popall(name, None)
        url = URL(self.gateway + request.path, encoded=True)
        async with self._http.post(url, data=request.body, headers=headers) as answer:
            await answer.read()
            return answer.status

    async def genuine(self) -> Request:
        """Let Ada write, and return the request that notified us."""
        await self.said(marked("Lunch on Friday?"))
        return self.told[-1]

    @property
    def told(self) -> list[Request]:
        """Return the requests by which the provider notified us."""
        return [request for request in self.requests if request.path.partition("?")[0] == self.path]

    def recorder(self) -> Middleware:
        """Create the outermost middleware, which records every request with the status of its answer."""

        @web.middleware
        async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
            answer = await handler(request)
            body = await request.read()
            self.requests.append(Request(request.raw_path, CIMultiDict(request.headers), body, answer.status))
            return answer

        return record

    def misbehave(self, kind: FaultKind, *, times: int = 1, endpoint: str = "", **how: Any) -> None:
        """Let the provider fail at the sending endpoint or another; `how` has the other fields of a rule."""
        self.simulator.wire.faults.add(Rule(endpoint or self.sending, kind, times, **how))

    def calls(self, endpoint: str = "") -> list[Call]:
        """Return the calls to the sending endpoint or another."""
        calls = self.simulator.wire.journal.calls(provider=self.provider)
        return [call for call in calls if call.direction == "out" and call.endpoint == (endpoint or self.sending)]

    def target(self, ref: str = "part_1", person: str = "ada") -> Target:
        """Return where a part to a person goes."""
        return Target(self.address(person), ref)

    @asynccontextmanager
    async def hurried(self) -> AsyncIterator[NotificationChannel]:
        """Open a sender that takes an answer for lost after `ANSWER_SECONDS`."""
        sender = self.make_sender(seconds=ANSWER_SECONDS)
        try:
            yield sender
        finally:
            await sender.close()

    async def read(self, parts: Sequence[Part], person: str = "ada") -> list[Bubble]:
        """Send parts to a person who wrote to us; return what they see."""
        await self.meet(person)
        for number, part in enumerate(parts):
            await self.sender.send(part, self.target(f"part_{number}", person))
        return self.bubbles(person)


@asynccontextmanager
async def open_harness(
    kind: type[ChannelHarness], inner: InboundSink | None = None, routes: Sequence[web.RouteDef] = ()
) -> AsyncIterator[ChannelHarness]:
    """Serve the provider and the channel, and further routes; by default the inbox is in memory."""
    async with serve_simulator(WORLD, SystemClock()) as simulator, aiohttp.ClientSession() as http:
        harness = kind(simulator, Sink(inner or MemorySink()))
        app = build_app([harness.channel], ready=_ready, extra_routes=routes)
        app.middlewares.insert(0, harness.recorder())
        try:
            async with serve(app, "127.0.0.1", 0) as port:
                await harness.serve(http, port)
                yield harness
        finally:
            await harness.channel.stop()
            await harness.sender.close()


def card(text: str, *actions: Action) -> OutboundMessage:
    """Create a card."""
    return OutboundMessage("out_1", OutboundKind.CARD, text, actions)


def reply(text: str, *actions: Action, media: tuple[Media, ...] = ()) -> OutboundMessage:
    """Create a reply."""
    return OutboundMessage("out_1", OutboundKind.REPLY, text, actions, media)


async def _ready() -> bool:
    return True
