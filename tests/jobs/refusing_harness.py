"""A database that always refuses one statement, and a worker whose turns meet it at every write."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from core.agents.registry import AgentRegistry
from core.approvals.store import ApprovalStore
from core.db.database import Connection, Database
from core.llm.types import ModelAnswer, ModelLayer, ModelRequest, Role
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.delivery.card_updates import Redraws
from jobs.delivery.redraws import RedrawRunner
from jobs.delivery.runner import DeliveryRunner
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from tests.clocks import StandingClock
from tests.core.agents.harness import CONFIG
from tests.core.agents.mail import SendEmailAgent
from tests.core.builders import says, wants
from tests.core.harness import LEASE, Store
from tests.jobs.harness import RecordingChannel

MARKS: list[str] = []


class Refusing(Database):
    """Refuse the statement that begins with `refused` or `refused_as`, and record every statement in `seen`."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.refused = self.refused_as = ""
        self.seen: list[str] = []
        self.times = 0

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Check the statement, then run it."""
        self.look(statement)
        return await super().rows(statement, *args)

    @asynccontextmanager
    async def tenant(self, tenant_id: str) -> AsyncIterator[Connection]:
        """Yield a connection that checks each of its statements."""
        async with super().tenant(tenant_id) as connection:
            yield _Looking(connection, self)  # type: ignore[misc]

    def look(self, statement: str) -> None:
        """Record a statement; raise what Postgres raises for values that it never accepts."""
        name = beginning(statement)
        self.seen.append(name)
        if name == self.refused or (self.refused_as and name.startswith(self.refused_as)):
            self.times += 1
            raise asyncpg.InvalidTextRepresentationError("invalid input syntax for type json")


class _Looking:
    def __init__(self, connection: Connection, database: Refusing) -> None:
        self._connection = connection
        self._database = database

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._connection, name)
        if name not in ("fetch", "fetchrow", "fetchval", "execute"):
            return inner

        async def looked(statement: str, *args: object) -> object:
            self._database.look(statement)
            return await inner(statement, *args)

        return looked


def beginning(statement: str) -> str:
    """Return the beginning of a statement, which identifies it."""
    return " ".join(statement.split())[:120]


class Follows:
    """A model that does what the person's last message names."""

    layers: Sequence[ModelLayer] = (ModelLayer("fake"),)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer, or call the tool that the person names."""
        messages = request.messages
        asked = max(at for at, message in enumerate(messages) if message.role is Role.USER and not message.internal)
        text = messages[asked].text
        if any(message.role is Role.TOOL for message in messages[asked:]):
            return says(f"done: {text}")
        match text.split()[0]:
            case "mark":
                return wants(("mark", {"word": text}))
            case "card":
                return wants(("card", {"word": text}))
            case "mail":
                return wants(("SendEmailAgent", {"subject": text}))
        return says(f"re {text}")

    async def close(self) -> None:
        """Release nothing."""


@tool(effect="once")
async def mark(word: str) -> str:
    """Record a mark."""
    MARKS.append(word)
    return "marked"


@tool(effect="once", needs_approval=True)
async def card(word: str) -> str:
    """Record a mark once the person agrees."""
    MARKS.append(word)
    return "marked"


@dataclass(slots=True)
class RefusingHarness:
    """The parts of one worker over a database that refuses."""

    store: Store
    database: Refusing
    channel: RecordingChannel = field(default_factory=RecordingChannel)

    @property
    def turns(self) -> TurnRunner:
        """Create the runner of turns as another process would."""
        approvals, clock = ApprovalStore(self.database, self.store.wakeups), StandingClock()
        people = PersonCommands(
            Linking(self.database, None, self.store.make_id),  # type: ignore[arg-type]
            People(self.database, self.store.make_id, clock),
        )
        assistant = Orchestrator(
            Follows(),
            tools=[mark, card],
            agents=AgentRegistry([SendEmailAgent]),
            approvals=approvals,
            config=CONFIG,
            clock=clock,
        )
        store = TurnStore(self.database, self.store.make_id, LEASE)
        channels = {"sms": self.channel}
        return TurnRunner(
            store,
            assistant,
            self.store.wakeups,
            channels,
            self.store.make_id,
            "w1",
            TurnFeatures(people, approvals=approvals),
        )

    @property
    def delivery(self) -> DeliveryRunner:
        """Create the runner of deliveries."""
        return DeliveryRunner(self.store.outbox, {"sms": self.channel}, "w1")

    @property
    def redraws(self) -> RedrawRunner:
        """Create the runner of redraws."""
        return RedrawRunner(Redraws(self.database), {"sms": self.channel})

    async def work(self, rounds: int = 4) -> None:
        """Run turns for a few rounds, which must be enough after a lasting refusal."""
        runner = self.turns
        for _ in range(rounds):
            try:
                lease = await runner.claim(None)
                if lease is None:
                    return
                await runner.run(lease)
            except asyncpg.PostgresError:
                continue  # as core.queue.claim_loop does: logged, and looked at again

    async def deliver(self) -> None:
        """Send everything that is due."""
        delivery = self.delivery
        while claim := await delivery.claim(None):
            await delivery.run(claim)

    async def told(self, sender: str) -> list[str]:
        """Return all replies to a person, in order."""
        rows = await self.store.column(
            "select o.text from outbound o join conversations c on c.tenant_id = o.tenant_id"
            " and c.id = o.conversation_id where c.peer = $1 and o.kind = 'reply' order by o.seq",
            sender,
        )
        return [str(row) for row in rows]

    async def all_done(self, sender: str) -> bool:
        """Return whether a person has no waiting message and no running turn."""
        waiting = await self.store.one(
            "select count(*) from inbound i join conversations c on c.tenant_id = i.tenant_id"
            " and c.id = i.conversation_id where c.peer = $1 and i.state not in ('done', 'ignored')",
            sender,
        )
        running = await self.store.db.turns.count(state="running")
        await asyncio.sleep(0)
        return not waiting and not running
