"""Helpers for tests of your own tools and agents: a context that stores everything in memory, and a rehearsal.

`docs/extending.md` shows both at work. Nothing here reaches the network or a database.
"""

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog

from core.agents.field_collection import collect, questions
from core.agents.standard_agent import AgentResult, ApprovalRequest, StandardAgent
from core.agents.valet import valet_of
from core.clock import Clock
from core.credentials.types import Ability, Account, ConnectedAccounts, OpenAccount
from core.errors import ConfigError
from core.files.types import AttachedFile
from core.json_types import Json, JsonObject
from core.messaging.channels import Received
from core.messaging.inbound import Inbound
from core.questions.types import Question
from core.tools.context import NO_WEB, StoredValue, ToolExecutionContext
from core.tools.tool import AnyTool
from core.tools.undo import UndoOffers
from onevalet.own_channels import ChannelSetup
from onevalet.relay import Relay


class StandingClock(Clock):
    """A clock that always shows the same moment, by default noon of 1 January 2027, UTC."""

    def __init__(self, at: datetime = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)) -> None:
        super().__init__()
        self.at = at

    def now(self) -> datetime:
        return self.at


@dataclass
class MemoryStorage:
    """A person's stored values, in memory: `context.storage`."""

    values: dict[str, dict[str, StoredValue]] = field(default_factory=dict)

    async def get(self, collection: str, key: str) -> StoredValue | None:
        return self.values.get(collection, {}).get(key)

    async def put(self, collection: str, key: str, value: Json) -> StoredValue:
        kept = self.values.setdefault(collection, {})
        number = kept[key].number if key in kept else max((value.number for value in kept.values()), default=0) + 1
        kept[key] = StoredValue(key, number, value)
        return kept[key]

    async def swap(self, collection: str, key: str, value: Json, was: Json) -> bool:
        now = self.values.get(collection, {}).get(key)
        if (now.value if now else None) not in (was, value):
            return False
        await self.put(collection, key, value)
        return True

    async def list(self, collection: str) -> Sequence[StoredValue]:
        return sorted(self.values.get(collection, {}).values(), key=lambda value: value.number)

    async def delete(self, collection: str, key: str) -> None:
        self.values.get(collection, {}).pop(key, None)


@dataclass
class MemoryCredentials:
    """A person's connected accounts, at most a single account for each service: `context.credentials`."""

    services: Mapping[str, JsonObject] = field(default_factory=dict)

    async def get(self, tenant_id: str, service: str, account_name: str = "primary") -> JsonObject | None:
        return self.services.get(service) if account_name == "primary" else None

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        names = [name for name in self.services if service in (None, name)]
        return [{"service": name, "account_name": "primary", "preferred": False} for name in names]

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        return ConnectedAccounts(service, ("primary",) if service in self.services else ())

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = "primary") -> None:
        self.services = {**self.services, service: credentials}

    async def delete(self, tenant_id: str, service: str, account_name: str = "primary") -> None:
        self.services = {name: values for name, values in self.services.items() if name != service}

    async def prefer(self, tenant_id: str, service: str, account_name: str) -> None:
        """Accept any choice: each service has a single account at most."""


class MemoryAccounts:
    """A connected account with the named servers, such as `imap`: `context.accounts`. It allows every access."""

    def __init__(self, address: str, secret: str = "", **servers: str) -> None:
        self.account = Account("email", "primary", address, frozenset(Ability))
        self.opened = OpenAccount(self.account, address, secret, servers=servers)

    async def list(self, need: str = "") -> Sequence[Account]:
        return [self.account]

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        return self.opened


@dataclass
class MemoryFiles:
    """The files that a tool sends, in memory: `context.files`. `sent` holds their content by name."""

    sent: dict[str, bytes] = field(default_factory=dict)

    async def put(self, name: str, data: bytes, content_type: str | None = None) -> AttachedFile:
        self.sent[name] = data
        return AttachedFile(f"f{len(self.sent):010}", name, content_type or "application/octet-stream", len(data))


@dataclass
class MemoryAnswers:
    """A person's answers in order, None for a skipped question: `context.ask`. `asked` has the questions."""

    answers: Sequence[str | None] = ()
    asked: list[Question] = field(default_factory=list)

    async def __call__(self, *questions: Question) -> Sequence[str | None]:
        before = len(self.asked)
        self.asked += questions
        if len(self.asked) > len(self.answers):
            raise ConfigError(f"It asks what has no answer here: {self.asked[len(self.answers)].text}")
        return self.answers[before : len(self.asked)]


@dataclass
class MemorySink:
    """An inbox in memory, for channels of your own: `accepted` holds each inbound message once."""

    accepted: list[Inbound] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    async def accept(self, inbound: Inbound) -> Received:
        keys = set(getattr(inbound, "keys", ()))
        duplicate = bool(keys & self.known)
        if not duplicate:
            self.known |= keys
            self.accepted.append(inbound)
        return Received(id=f"msg{len(self.accepted)}", duplicate=duplicate)


def make_setup() -> ChannelSetup:
    """Create the setup for a channel of your own; its relay reaches no server."""
    return ChannelSetup(StandingClock(), Relay("redis://127.0.0.1:1"))


def make_context(**changes: Any) -> ToolExecutionContext:
    """Create a tool's context; `changes` replace any of its fields, such as `http` or `credentials`."""
    values: dict[str, Any] = {
        "tenant_id": "somebody",
        "turn_id": "turn",
        "idempotency_key": "turn.0.0",
        "clock": StandingClock(),
        "credentials": MemoryCredentials(),
        "http": NO_WEB,
        "log": structlog.get_logger(),
        "storage": MemoryStorage(),
        "files": MemoryFiles(),
        "ask": MemoryAnswers(),
    }
    values |= changes
    return ToolExecutionContext(**({"undo": UndoOffers(values["clock"])} | values))


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The state that an agent reaches with the values of its fields.

    `question` is the first question to the person, empty if every field has a value. `approval` is the request for
    their consent, None if none is needed. `fields` are the valid values so far, as JSON.
    """

    question: str
    fields: JsonObject
    approval: ApprovalRequest | None = None
    agent: StandardAgent | None = None

    async def go_on(self, instruction: str = "") -> AgentResult:
        """Run the agent, as after an approval; raise `ConfigError` while it has something to ask."""
        if self.agent is None:
            raise ConfigError(f"It asks first: {self.question}")
        result = await self.agent.on_initializing(instruction)
        return result or await self.agent.on_running(instruction)


def rehearse(agent: type[StandardAgent], context: ToolExecutionContext | None = None, /, **given: Any) -> Rehearsal:
    """Call an agent as the model does, with the values of its fields, up to its run."""
    valet = valet_of(agent)
    if valet is None:
        raise ConfigError(f"{agent.__qualname__} is not an agent: mark it with @valet(...).")
    if strange := sorted(given.keys() - valet.inputs.keys()):
        raise ConfigError(f"{valet.name} has no field {strange[0]!r}.")
    collected = collect(valet.inputs, {}, given)
    if not collected.whole:
        return Rehearsal("\n".join(questions(valet.inputs, collected).values()), collected.fields)
    values = {name: valet.inputs[name].from_json(value) for name, value in collected.fields.items()}
    made = agent(context or make_context(), _no_loop, values=values)
    return Rehearsal("", collected.fields, made.approval_request() if made.needs_approval() else None, made)


async def _no_loop(instruction: str, tools: Sequence[AnyTool | type[StandardAgent]], system_prompt: str) -> str:
    raise ConfigError("A rehearsal has no model: give the agent's own handlers something to do without one.")
