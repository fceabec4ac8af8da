"""A stored turn: its messages, its steps, and its replies."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.db.database import Connection, Database
from core.errors import ConfigError
from core.journal.in_memory import MemoryJournal
from core.journal.postgres import PostgresJournal
from core.journal.types import Lease, Outcome, StepKind, StepRecord
from core.json_types import JsonObject
from core.llm.types import ChatMessage, ModelAnswer
from core.loop.control import TurnControl, TurnMessage, put_together
from core.people.tenant import TurnTenant
from core.turns.store import HISTORY_ROWS
from core.turns.trigger_message import TriggerMessage
from core.turns.types import FromPerson, FromTask, Kept, Place, TurnRequest, TurnState, TurnWork
from operations.paths.rows import read_rows

type ReadTrigger = Callable[[Connection, str, str], Awaitable[TriggerMessage | None]]
"""Reads the trigger of a turn that no message began."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A whole turn. `request` has an empty journal; `steered` are the messages that came in later, by step."""

    request: TurnRequest
    rows: tuple[StepRecord, ...]
    steered: dict[int, list[TurnMessage]]
    state: TurnState
    reason: str
    started_at: datetime
    replies: tuple[JsonObject, ...] = ()

    def again(self, journal: MemoryJournal, control: TurnControl) -> TurnRequest:
        """Return the request to run the turn again over another journal."""
        return replace(self.request, work=replace(self.request.work, journal=journal, control=control))

    def lines(self) -> list[JsonObject]:
        """Return the turn as JSON objects, in order, each on a line of its own."""
        received: list[JsonObject] = [
            {"kind": "received", "id": message.id, "at": message.received_at.isoformat(), "text": message.text}
            for message in self.request.inbound
        ]
        return [
            {
                "kind": "turn",
                "id": self.request.turn_id,
                "tenant_id": self.request.tenant.id,
                "channel": self.request.channel,
                "state": self.state,
                "reason": self.reason,
                "started_at": self.started_at.isoformat(),
            },
            *received,
            *(_step_line(row, self.rows) for row in sorted(self.rows, key=_order)),
            *self.replies,
        ]


async def read_transcript(database: Database, wanted: str, triggers: Iterable[ReadTrigger] = ()) -> Transcript:
    """Read the turn of an id; raise `ConfigError` if there is none. `triggers` read the trigger of the turn."""
    ids = await database.call("select * from find_trace($1)", wanted)
    if ids is None or not ids["turn_id"]:
        raise ConfigError(f"No turn is known by {wanted}: give the id of a turn, or of a message or answer of one.")
    tenant, turn = str(ids["tenant_id"]), str(ids["turn_id"])
    rows = await PostgresJournal(database, Lease(tenant, "", 0, ""), turn).recorded()
    async with database.tenant(tenant) as connection:
        return await _read(connection, tenant, turn, rows, triggers)


async def _read(
    connection: Connection, tenant: str, turn: str, rows: Sequence[StepRecord], triggers: Iterable[ReadTrigger]
) -> Transcript:
    path = await read_rows(connection, tenant, turn)
    (row,) = path.turns
    inbound = [
        TurnMessage(
            id=message["id"],
            text=message["text"],
            received_at=message["received_at"],
            media_count=len(message["media"]),
            goes_on=message["goes_on"],
            continues=message["continues"],
        )
        for message in path.inbound
    ]
    steered = _steered(rows, inbound)
    late = {message.id for messages in steered.values() for message in messages}
    request = TurnRequest(
        TurnWork(turn, MemoryJournal()),
        TurnTenant(tenant, row["name"], row["language"], row["timezone"]),
        Place(row["channel"]),
        FromPerson(tuple(put_together(message for message in inbound if message.id not in late))),
        Kept(await _history(connection, tenant, turn, row["conversation_id"])),
    )
    for read in triggers:
        if trigger := await read(connection, tenant, turn):
            # Such a turn has a conversation of its own, which the trigger begins.
            request = replace(request, came=FromTask(trigger), kept=Kept())
    said = tuple(
        {"kind": "said", "id": sent["id"], "state": sent["state"], "text": sent["text"]} for sent in path.outbound
    )
    return Transcript(request, tuple(rows), steered, TurnState(row["state"]), row["reason"], row["started_at"], said)


async def _history(connection: Connection, tenant: str, turn: str, conversation: str) -> tuple[ChatMessage, ...]:
    """Return the history before the turn in its session; for an unfinished turn, all of the history."""
    rows = await connection.fetch(
        "with own as (select min(position) as first, min(session) as session from history"
        "  where tenant_id = $1 and conversation_id = $2 and turn_id = $3),"
        " before as (select h.position, h.message from history h, own join conversations c"
        "  on c.tenant_id = $1 and c.id = $2 where h.tenant_id = $1 and h.conversation_id = $2"
        "  and h.session = coalesce(own.session, c.session) and (own.first is null or h.position < own.first)"
        "  order by h.position desc limit $4)"
        " select message from before order by position",
        tenant,
        conversation,
        turn,
        HISTORY_ROWS,
    )
    return tuple(ChatMessage.from_json(row["message"]) for row in rows)


def _steered(rows: Sequence[StepRecord], inbound: Sequence[TurnMessage]) -> dict[int, list[TurnMessage]]:
    by_id = {message.id: message for message in inbound}
    steered: dict[int, list[TurnMessage]] = {}
    for row in rows:
        messages = row.result.get("messages") if row.kind is StepKind.STEER else None
        for item in messages if isinstance(messages, list) else []:
            if isinstance(item, dict):
                parts = [item.get("id"), *(rest if isinstance(rest := item.get("rest"), list) else [])]
                found = [message for part in parts if (message := by_id.get(str(part)))]
                steered.setdefault(row.key.step, []).extend(found)
    return steered


def _step_line(row: StepRecord, rows: Sequence[StepRecord]) -> JsonObject:
    line: JsonObject = {
        "kind": row.kind.value,
        "label": label(row.kind, row.outcome, calls=bool(row.result.get("tool_calls"))),
        "step": row.key.step,
        "call_index": row.key.call_index,
        "agent_path": row.key.agent_path,
        "name": row.name,
        "state": row.state.value,
        "outcome": row.outcome.value,
        "duration_ms": row.duration_ms,
        "result": row.result,
    }
    if row.kind is StepKind.MODEL:
        line["usage"] = row.usage.to_json()
    if row.kind in (StepKind.TOOL, StepKind.AGENT):
        line |= {"effect": row.effect.value, "arguments_hash": row.arguments_hash, "arguments": _asked(row, rows)}
    return line


def label(kind: StepKind, outcome: Outcome, *, calls: bool) -> str:
    """Return a step's name in a trace; `calls` says whether a model's answer requests any calls."""
    if outcome in (Outcome.ERROR, Outcome.UNKNOWN, Outcome.REFUSED):
        return "ERROR"
    match kind:
        case StepKind.MODEL:
            return "THINK" if calls else "RESPOND"
        case StepKind.TOOL | StepKind.AGENT:
            return "CALL_TOOL"
        case _:
            return "OBSERVE"


def _asked(row: StepRecord, rows: Sequence[StepRecord]) -> str:
    """Find a call's arguments, as the model wrote them, in the answer that made it."""
    for answer in rows:
        key = answer.key
        if (key.step, key.call_index, key.agent_path) == (row.key.step, 0, row.key.agent_path):
            calls = ModelAnswer.from_json(answer.result, answer.usage).tool_calls
            return calls[row.key.call_index - 1].arguments if row.key.call_index <= len(calls) else ""
    return ""


def _order(row: StepRecord) -> tuple[int, int, str]:
    return row.key.step, row.key.call_index, row.key.agent_path
