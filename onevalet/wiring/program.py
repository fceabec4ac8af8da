"""The channel of a program with an assistant inside: its messages stay in this process."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from core.db.database import Database
from core.llm.types import TokenUsage
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, InboundMessage, OutboundMessage
from core.turns.event_stream import Emit, StreamEvent
from core.turns.types import TurnResult, TurnState

CHANNEL, ACCOUNT = "program", "local"


@dataclass(frozen=True, slots=True)
class Ended:
    """The state of a message's turn in the database; `turn_id` is None if there is no turn."""

    state: TurnState
    reason: str = ""
    turn_id: str | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of the assistant's in the outbox; `ref` marks it read."""

    ref: str
    seq: int
    text: str


class ProgramNotification:
    """The program's notification channel: a part counts as sent once it is in the outbox, which the program reads."""

    name = CHANNEL
    can_find = True
    resend_unknown = True

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self._watchers: dict[Address, Watched] = {}

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return (Part(message.text or " "),)

    async def send(self, part: Part, to: Target) -> Receipt:
        self.news.set()
        return Receipt(provider_id=f"program-{to.ref}")

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        return None  # an unfinished part was never read: the program reads messages that are marked sent

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None: ...

    def watcher(self, to: Address) -> Emit | None:
        watched = self._watchers.get(to)
        return watched.emit if watched else None

    def turn_ended(self, to: Address, turn_id: str, result: TurnResult) -> None:
        if watched := self._watchers.get(to):
            watched.results[turn_id] = result

    @contextmanager
    def watching(self, watched: "Watched | None") -> Iterator[None]:
        """Report the events and results of a conversation's turns inside the block."""
        if watched is None:
            yield
            return
        place = watched.talk.address
        self._watchers[place] = watched
        try:
            yield
        finally:
            del self._watchers[place]


@dataclass(frozen=True, slots=True)
class ProgramTalk:
    """A person's conversation with the program, as stored in the database."""

    database: Database
    tenant_id: str
    address: Address

    async def newest(self) -> int:
        """Return the number of the assistant's newest message; 0 if there is none."""
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
        """Return the messages sent after a number, or only unread messages, in order."""
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

    async def turn_of(self, key: str) -> str | None:
        """Return the turn that has taken in the message with a key; None as long as none has."""
        row = await self.database.tenant_row(
            self.tenant_id,
            "select i.turn_id from inbox_keys k join inbound i on i.tenant_id = k.tenant_id and i.id = k.inbound_id"
            " where k.tenant_id = $1 and k.channel = $2 and k.account = $3 and k.key = $4",
            CHANNEL,
            ACCOUNT,
            key,
        )
        return row["turn_id"] if row else None

    async def stop(self, words: str) -> str | None:
        """Ask the turn that runs here to stop; return its lane, None if none runs."""
        row = await self.database.tenant_row(
            self.tenant_id,
            "select c.id, stop_running($1, c.id, $5) as turn_id from conversations c"
            " where c.tenant_id = $1 and c.channel = $2 and c.peer = $3 and c.thread = $4",
            *self._place,
            words,
        )
        return row["id"] if row and row["turn_id"] else None

    async def ended(self, message_id: str) -> Ended:
        """Return the state of a message's turn."""
        row = await self.database.tenant_row(
            self.tenant_id,
            "select i.reason as ignored, t.id, t.state, t.reason, t.usage from inbound i"
            " left join turns t on t.tenant_id = i.tenant_id and t.id = i.turn_id where i.tenant_id = $1 and i.id = $2",
            message_id,
        )
        if row is None or row["id"] is None:
            return Ended(TurnState.DONE, row["ignored"] if row else "")
        usage = TokenUsage(**row["usage"]) if row["usage"] else TokenUsage()
        return Ended(TurnState(row["state"]), row["reason"], row["id"], usage)

    @property
    def _place(self) -> tuple[str, str, str]:
        return self.address.channel, self.address.peer, self.address.thread


class Watched:
    """A program's view of a message's turn: its events, and its result if it ran in this process."""

    def __init__(self, talk: ProgramTalk, message: InboundMessage) -> None:
        self.talk = talk
        self.message = message
        self.begun = False
        """Whether the message is taken in, or about to be."""
        self.ended = Ended(TurnState.RUNNING)
        self.results: dict[str, TurnResult] = {}
        self.events: asyncio.Queue[StreamEvent | None] = asyncio.Queue()
        self._is_ours: dict[str, bool] = {}

    async def emit(self, event: StreamEvent) -> None:
        """Queue an event, unless it belongs to another turn of the conversation."""
        if event.turn_id not in self._is_ours:
            self._is_ours[event.turn_id] = await self.talk.turn_of(self.message.keys[0]) == event.turn_id
        if self._is_ours[event.turn_id]:
            self.events.put_nowait(event)

    def result(self, text: str) -> TurnResult:
        """Return the result of the turn; if it ran in another process, the stored state."""
        ended = self.ended
        known = self.results.get(ended.turn_id or "")
        return known or TurnResult(ended.state, text, ended.reason, usage=ended.usage)


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
