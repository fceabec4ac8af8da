"""The terminal as a channel: lines go in through the inbox, sent parts come back from the outbox."""

from dataclasses import dataclass

from channels.terminal.parse import ACCOUNT, parse_line
from core.db.database import Database
from core.ids import IdMaker
from core.messaging.channels import InboundSink, Received
from core.messaging.messages import DeliveryStatus, StatusUpdate


@dataclass(frozen=True, slots=True)
class Shown:
    """A part to show. `ref` marks it read."""

    ref: str
    text: str


class TerminalChannel:
    """A person's terminal. Unread parts wait in the outbox, across restarts too."""

    name = "terminal"
    account = ACCOUNT

    def __init__(self, sink: InboundSink, database: Database, make_id: IdMaker, person: str) -> None:
        self._sink = sink
        self._database = database
        self._make_id = make_id
        self._person = person

    async def say(self, line: str) -> Received:
        """Accept a line; it is committed when this returns."""
        return await self._sink.accept(parse_line(line, person=self._person, key=self._make_id("line")))

    async def unread(self) -> list[Shown]:
        """Return the parts that were sent and not yet shown, in order."""
        tenant = await self._tenant()
        if tenant is None:
            return []
        async with self._database.tenant(tenant) as connection:
            rows = await connection.fetch(
                "select p.ref, p.text from outbound_parts p"
                " join outbound o on o.tenant_id = p.tenant_id and o.id = p.outbound_id"
                " join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
                " where c.channel = 'terminal' and c.peer = $1 and p.state = 'sent' and p.status <> 'read'"
                " order by o.seq, p.part",
                self._person,
            )
        return [Shown(row["ref"], row["text"]) for row in rows]

    async def mark_read(self, part: Shown) -> None:
        """Record that the person has seen a part."""
        await self._sink.accept(
            StatusUpdate("terminal", ACCOUNT, f"terminal-{part.ref}", part.ref, DeliveryStatus.READ)
        )

    async def busy(self) -> bool:
        """Return whether more may come: a message is unanswered, a turn runs or resumes, an answer is on its way."""
        tenant = await self._tenant()
        if tenant is None:
            return False
        async with self._database.tenant(tenant) as connection:
            return bool(
                await connection.fetchval(
                    "select exists (select 1 from inbound i join conversations c on c.tenant_id = i.tenant_id"
                    "  and c.id = i.conversation_id where c.channel = 'terminal' and c.peer = $1"
                    "  and i.state in ('waiting', 'taken'))"
                    " or exists (select 1 from turns t join conversations c on c.tenant_id = t.tenant_id"
                    "  and c.id = t.conversation_id where c.channel = 'terminal' and c.peer = $1"
                    "  and (t.state = 'running' or t.state = 'waiting' and t.ready))"
                    " or exists (select 1 from outbound o join conversations c on c.tenant_id = o.tenant_id"
                    "  and c.id = o.conversation_id where c.channel = 'terminal' and c.peer = $1"
                    "  and o.state in ('ready', 'sending', 'checking'))",
                    self._person,
                )
            )

    async def _tenant(self) -> str | None:
        row = await self._database.call(
            "select tenant_id from find_identity($1, $2, $3)", "terminal", ACCOUNT, self._person
        )
        return str(row["tenant_id"]) if row else None
