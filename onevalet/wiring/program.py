"""The channel of a program that has an assistant inside itself: what is said to it stays in this process."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from core.db.database import Database
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from core.turns.event_stream import Emit
from core.turns.types import TurnState

CHANNEL, ACCOUNT = "program", "local"


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of the assistant's as it stands in the outbox; `ref` marks it read."""

    ref: str
    seq: int
    text: str


class ProgramNotification:
    """The way out to the program: a part counts as sent when it is in the outbox, where the program reads it."""

    name = CHANNEL
    can_find = True
    resend_unknown = True

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self._watchers: dict[Address, Emit] = {}

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return (Part(message.text or " "),)

    async def send(self, part: Part, to: Target) -> Receipt:
        self.news.set()
        return Receipt(provider_id=f"program-{to.ref}")

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        return None  # an unfinished part was never read: the program reads what is marked sent

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None: ...

    def watcher(self, to: Address) -> Emit | None:
        return self._watchers.get(to)

    @contextmanager
    def watching(self, to: Address, emit: Emit) -> Iterator[None]:
        """Tell of the events of a conversation's turns inside the block."""
        self._watchers[to] = emit
        try:
            yield
        finally:
            del self._watchers[to]


@dataclass(frozen=True, slots=True)
class ProgramTalk:
    """One person's conversation with the program, as the database has it."""

    database: Database
    tenant_id: str
    address: Address

    async def newest(self) -> int:
        """Return the number of the newest message of the assistant's; 0 where there is none."""
        row = await self.database.tenant_row(
            self.tenant_id,
            f"select coalesce(max(o.seq), 0) as seq from outbound o {_HERE}",  # noqa: S608 - a constant
            *self._place,
        )
        return int(row["seq"]) if row else 0

    async def busy(self) -> bool:
        """Return whether more may come: a message is unanswered, a turn runs or resumes, an answer is on its way."""
        row = await self.database.tenant_row(self.tenant_id, _BUSY, *self._place)
        return bool(row and row["busy"])

    async def spoken(self, *, after: int = 0, unread: bool = False) -> list[Spoken]:
        """Return what was sent after a number, or what the program has not read yet, in order."""
        rows = await self.database.tenant_rows(
            self.tenant_id,
            f"select p.ref, o.seq, p.text from outbound o join outbound_parts p"  # noqa: S608 - constants
            f" on p.tenant_id = o.tenant_id and p.outbound_id = o.id {_HERE}"
            " and p.state = 'sent' and o.seq > $5 and (not $6 or p.status <> 'read') order by o.seq, p.part",
            *self._place,
            after,
            unread,
        )
        return [Spoken(row["ref"], row["seq"], row["text"]) for row in rows]

    async def ended(self, message_id: str) -> tuple[TurnState, str, str | None]:
        """Return how the turn of a message stands, its reason, and its id."""
        row = await self.database.tenant_row(
            self.tenant_id,
            "select i.reason as ignored, t.id, t.state, t.reason from inbound i"
            " left join turns t on t.tenant_id = i.tenant_id and t.id = i.turn_id where i.tenant_id = $1 and i.id = $2",
            message_id,
        )
        if row is None or row["id"] is None:
            return TurnState.DONE, row["ignored"] if row else "", None
        return TurnState(row["state"]), row["reason"], row["id"]

    @property
    def _place(self) -> tuple[str, str, str]:
        return self.address.channel, self.address.peer, self.address.thread


_HERE = (
    "join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
    " where c.tenant_id = $1 and c.channel = $2 and c.peer = $3 and c.thread = $4"
)
_BUSY = """
with here as (select c.tenant_id, c.id from conversations c
              where c.tenant_id = $1 and c.channel = $2 and c.peer = $3 and c.thread = $4)
select exists (select from inbound i join here h on h.id = i.conversation_id where i.state in ('waiting', 'taken'))
    or exists (select from turns t join here h on h.id = t.conversation_id
               where t.state = 'running' or t.state = 'waiting' and t.ready)
    or exists (select from outbound o join here h on h.id = o.conversation_id
               where o.state in ('ready', 'sending', 'checking')) as busy
"""
