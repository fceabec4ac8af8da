"""A person with calendars on a real Radicale, and the calls that a model would make for them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from abilities.accounts.choice import choose
from abilities.calendar.tools import undo_event
from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.credentials.needs import read_need
from core.credentials.types import Account, OpenAccount
from core.errors import AccountMissing
from core.files.types import SentFile
from core.http.guarded_client import GuardedClient
from core.json_types import Json
from core.tools.context import StoredValue, TaskNote, TaskState, ToolExecutionContext
from core.tools.tool import Tool
from core.tools.undo import UndoOffers
from tests.agents.services import no_loop
from tests.clocks import StandingClock
from tests.core.builders import a_context
from tests.servers.radicale import Radicale


@dataclass(slots=True)
class Connected:
    """The accounts of one person."""

    opened: list[OpenAccount]

    async def list(self, need: str = "") -> Sequence[Account]:
        service, ability = read_need(need)
        accounts = [one.account for one in self.opened if service in ("", one.account.service)]
        return [account for account in accounts if ability in account.abilities]

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        accounts = await self.list(need)
        if not accounts:
            raise AccountMissing("Connect a calendar first.", need)
        chosen = choose(accounts, None, need, account_name)
        return next(one for one in self.opened if one.account == chosen)


@dataclass(slots=True)
class Planned:
    """Tasks, as far as the calendar makes any."""

    zone: str | None = "Europe/Berlin"
    made: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=list)

    async def timezone(self) -> str | None:
        return self.zone

    async def set_timezone(self, timezone: str) -> None:
        self.zone = timezone

    async def create(self, trigger: Mapping[str, Any], action: Mapping[str, Any], **_: Any) -> TaskNote:
        self.made.append((trigger, action))
        return TaskNote("t1", 1, "", "", "then", TaskState.ACTIVE)


@dataclass(slots=True)
class Stored:
    """What tools keep."""

    values: dict[tuple[str, str], Json] = field(default_factory=dict)

    async def get(self, collection: str, key: str) -> StoredValue | None:
        known = self.values.get((collection, key))
        return None if known is None else StoredValue(key, 1, known)

    async def put(self, collection: str, key: str, value: Json) -> StoredValue:
        self.values[collection, key] = value
        return StoredValue(key, 1, value)

    async def list(self, collection: str) -> Sequence[StoredValue]:
        return [StoredValue(key, 1, value) for (name, key), value in self.values.items() if name == collection]

    async def delete(self, collection: str, key: str) -> None:
        self.values.pop((collection, key), None)


@dataclass(slots=True)
class Sent:
    """One file that the person sent."""

    text: str = ""

    async def fetch(self, file_id: str) -> SentFile:
        return SentFile("text/calendar", self.text.encode())


@dataclass(slots=True)
class House:
    """It is Saturday, 21 November 2026, 13:00 in Berlin, unless `clock` says otherwise."""

    radicale: Radicale
    http: GuardedClient
    connected: Connected
    tasks: Planned = field(default_factory=Planned)
    storage: Stored = field(default_factory=Stored)
    files: Sent = field(default_factory=Sent)
    clock: StandingClock = field(default_factory=StandingClock)
    calls: int = 0
    last: ToolExecutionContext = field(default_factory=a_context)
    """That of the last call."""

    def context(self, key: str = "") -> ToolExecutionContext:
        self.calls += 1
        self.last = replace(
            a_context(idempotency_key=key or f"turn.0.{self.calls}", timezone=self.tasks.zone or "UTC"),
            http=self.http,
            accounts=self.connected,  # type: ignore[arg-type]
            tasks=self.tasks,  # type: ignore[arg-type]
            storage=self.storage,  # type: ignore[arg-type]
            files=self.files,  # type: ignore[arg-type]
            clock=self.clock,
            undo=UndoOffers(self.clock),
        )
        return self.last

    async def undone(self) -> str:
        """Take back what the last call offers to take back; return what the person reads."""
        offer = self.last.undo.offered[-1]
        return await undo_event.run(undo_event.parse(offer.arguments), self.context())

    async def told(self, tool: Tool[..., Any], **arguments: Any) -> str:
        """Return what a tool tells the model."""
        return await tool.run(tool.parse(arguments), self.context())

    def agent(self, kind: type[StandardAgent], key: str = "", **values: Any) -> StandardAgent:
        inputs = kind.valet.inputs
        return kind(
            self.context(key), no_loop, values={name: inputs[name].check(value) for name, value in values.items()}
        )

    async def card(self, kind: type[StandardAgent], key: str = "", **values: Any) -> StandardAgent:
        """Call an agent that asks; return it with what it waits with."""
        agent = self.agent(kind, key, **values)
        result = await agent.on_running("")
        assert result.status is AgentStatus.WAITING_FOR_APPROVAL, result
        return agent

    async def approved(self, agent: StandardAgent) -> str:
        """Let the person approve what an agent showed, in a later run; return what it then says."""
        return (await self.approval(agent)).raw_message

    async def approval(self, agent: StandardAgent) -> AgentResult:
        """Let the person approve what an agent showed, in a later run; return what comes of it."""
        later = type(agent)(agent.context, no_loop, values=vars(agent)["_values"])
        later.state = dict(agent.state)
        return await later.on_waiting_for_approval("")

    async def does(self, kind: type[StandardAgent], key: str = "", **values: Any) -> str:
        """Call an agent that acts at once; return what it says."""
        result: AgentResult = await self.agent(kind, key, **values).on_running("")
        assert result.status is AgentStatus.COMPLETED, result
        return result.raw_message

    def at(self, text: str) -> None:
        """Let it be a moment."""
        self.clock.at = datetime.fromisoformat(text)


@asynccontextmanager
async def open_house(radicale: Radicale, *hosts: str) -> AsyncIterator[House]:
    http = GuardedClient(allowed_hosts=[radicale.host, *hosts])
    try:
        yield House(radicale, http, Connected([radicale.account()]))
    finally:
        await http.close()
