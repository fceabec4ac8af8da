"""A turn's path for pages: received messages, each step with its cost, and sent messages, on a single time axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import asyncpg

from core.db.database import Connection
from core.journal.types import Outcome, StepKind
from core.json_types import JsonObject, object_of, objects_in
from core.llm.types import TokenUsage
from core.messaging.states import CallOutcome, SendState
from core.turns.types import TurnState
from operations.paths.rows import PathRows, how_decided, read_rows
from operations.paths.transcript import label
from operations.paths.types import steps_of_abilities

_GOES_WELL = frozenset({CallOutcome.ACCEPTED, "started"})
_KINDS = {"THINK": "model", "RESPOND": "model", "CALL_TOOL": "tool", "OBSERVE": "note", "ERROR": "error"}


@dataclass(frozen=True, slots=True)
class Span:
    """A row of the waterfall. `kind` is how it is drawn; `texts` are shown to those who may read them."""

    at: datetime
    until: datetime
    kind: str
    title: str
    note: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    failed: bool = False
    asked: tuple[str, int] | None = None
    """Of a model's step: the agent path and the step by which its prompt is kept."""
    place: str = ""
    """Of a step of the journal: its key, which begins with that of the call within which it was done."""
    within: str = ""
    """The place of that call, empty if it is in none."""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class PathMessage:
    """A message of the turn. `inward`: the person wrote it."""

    at: datetime
    inward: bool
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class TurnPath:
    """A turn from its first message to the last word of a provider."""

    tenant_id: str
    turn_id: str
    conversation_id: str
    channel: str
    person: str
    state: TurnState
    reason: str
    attempts: int
    started_at: datetime
    finished_at: datetime | None
    usage: TokenUsage
    model_calls: int
    tool_calls: int
    spans: tuple[Span, ...] = ()
    said: tuple[PathMessage, ...] = ()

    @property
    def begins(self) -> datetime:
        return min((span.at for span in self.spans), default=self.started_at)

    @property
    def ends(self) -> datetime:
        return max((span.until for span in self.spans), default=self.started_at)

    @property
    def took_ms(self) -> float:
        return max((self.ends - self.begins).total_seconds() * 1000, 1.0)

    def placed(self, span: Span) -> tuple[float, float]:
        """Return the start and length of a span, in thousandths of the whole."""
        begin = (span.at - self.begins).total_seconds() * 1_000_000 / self.took_ms
        length = (span.until - span.at).total_seconds() * 1_000_000 / self.took_ms
        return round(min(begin, 996), 1), round(max(length, 4), 1)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> TurnPath:
    """Return a turn's path."""
    rows = await read_rows(connection, tenant_id, turn_id)
    (turn,) = rows.turns
    usages = [
        TokenUsage.from_json(step["usage"]) for step in rows.steps if step["kind"] == StepKind.MODEL and step["name"]
    ]
    spans = [
        *_received(rows.inbound, turn["started_at"]),
        *_changed(rows.changes),
        *_decided(rows.decisions),
        *await _told(connection, tenant_id, turn_id),
        *_of_steps(rows.steps),
        *_sent(rows),
        *_away(turn),
    ]
    return TurnPath(
        tenant_id,
        turn_id,
        turn["conversation_id"] or "",
        turn["channel"],
        turn["person"],
        TurnState(turn["state"]),
        turn["reason"],
        turn["attempts"],
        turn["started_at"],
        turn["finished_at"],
        sum(usages, TokenUsage()),
        len(usages),
        sum(step["kind"] == StepKind.TOOL for step in rows.steps),
        nested(spans),
        _said(rows),
    )


def nested(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans in order of time; the spans within a call follow it, a level deeper."""
    places = {span.place for span in spans if span.place}
    inside: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.at):
        inside.setdefault(span.within if span.within in places else "", []).append(span)

    def unfolded(within: str, depth: int) -> list[Span]:
        found = []
        for span in inside.get(within, ()):
            found.append(replace(span, depth=depth))
            found += unfolded(span.place, depth + 1) if span.place else []
        return found

    return tuple(unfolded("", 0))


def _said(rows: PathRows) -> tuple[PathMessage, ...]:
    wrote = [PathMessage(row["received_at"], True, row["text"] or row["heard"] or "") for row in rows.inbound]
    sent = [PathMessage(row["created_at"], False, row["text"] or "", row["kind"]) for row in rows.outbound]
    return tuple(sorted([*wrote, *sent], key=lambda message: message.at))


def _received(inbound: Sequence[asyncpg.Record], begun: datetime) -> list[Span]:
    return [
        Span(
            row["received_at"],
            max(row["received_at"], begun),
            "in",
            "Changed" if row["amends"] else "Received",
            "waited for a worker" if begun - row["received_at"] > timedelta(milliseconds=100) else "",
            _facts(id=row["id"], number=row["seq"], state=row["state"], reason=row["reason"]),
            _texts(("What they wrote", row["text"] or row["heard"])),
        )
        for row in inbound
    ]


def _changed(changes: Sequence[asyncpg.Record]) -> list[Span]:
    """Return a span for each later change of a message, which another turn took in, or none."""
    return [
        Span(
            row["received_at"],
            row["received_at"],
            "in",
            "Changed" if row["turn_id"] else "Changed, and not answered",
            row["reason"],
            _facts(
                id=row["id"], number=row["seq"], state=row["state"], reason=row["reason"], turn=row["turn_id"] or ""
            ),
            _texts(("What they wrote", row["text"])),
        )
        for row in changes
    ]


def _decided(decisions: Sequence[asyncpg.Record]) -> list[Span]:
    """Return a span for each end of an approval, with the means by which it was decided."""
    return [
        Span(
            row["at"],
            row["at"],
            "in",
            f"{row['what'].capitalize()}: {row['code']}",
            f"by {how}" if (how := how_decided(row)) else "",
            _facts(approval=row["approval_id"], channel=row["channel"]),
        )
        for row in decisions
    ]


def _away(turn: asyncpg.Record) -> list[Span]:
    """Return a span for the time without a model, while the turn waits for it."""
    since = turn["model_down_since"]
    if since is None:
        return []
    return [Span(since, since, "error", "No model answers", f"tried {turn['model_tries']} times", failed=True)]


async def _told(connection: Connection, tenant_id: str, turn_id: str) -> list[Span]:
    """Return the abilities' rows."""
    steps = await steps_of_abilities(connection, tenant_id, turn_id)
    return [
        Span(step.began or step.at, step.at, "note", step.title, step.note, _facts(**step.facts))
        for step in steps
        if step.title
    ]


def _of_steps(steps: Sequence[asyncpg.Record]) -> list[Span]:
    asked = {
        (step["agent_path"], step["step"], number): call.get("arguments", "")
        for step in steps
        if step["kind"] == StepKind.MODEL
        for number, call in enumerate(_calls(step["result"]), 1)
    }
    spans = []
    for step in steps:
        kind, outcome = StepKind(step["kind"]), Outcome(step["outcome"])
        word = label(kind, outcome, calls=bool(step["result"].get("tool_calls")))
        usage = TokenUsage.from_json(step["usage"])
        arguments = asked.get((step["agent_path"], step["step"], step["call_index"]), "")
        is_call = kind in (StepKind.TOOL, StepKind.AGENT)
        end = step["finished_at"] or step["started_at"]
        spans.append(
            Span(
                min(step["started_at"], end - timedelta(milliseconds=step["duration_ms"])),
                end,
                _KINDS[word],
                _title(step),
                "" if outcome is Outcome.OK else outcome.value,
                _facts(
                    step=f"{step['agent_path']}{step['step']}.{step['call_index']}",
                    state=step["state"],
                    effect=step["effect"] if is_call else "",
                    tokens=f"{usage.input_tokens} in, {usage.output_tokens} out" if usage.total else "",
                    cached=usage.cached_tokens or "",
                    cost=f"${usage.cost:.5f}" if usage.cost else "",
                ),
                _texts(
                    ("Arguments", str(arguments) if is_call else ""),
                    ("Result" if is_call else "Answer", str(step["result"].get("text") or "")),
                    ("Thinking", str(step["result"].get("thinking") or "")),
                ),
                word == "ERROR",
                (step["agent_path"], step["step"]) if kind is StepKind.MODEL else None,
                place=f"{step['agent_path']}/" * bool(step["agent_path"]) + f"{step['step']}.{step['call_index']}",
                within=step["agent_path"].rpartition("/")[0],
            )
        )
    return spans


def _sent(rows: PathRows) -> list[Span]:
    queued = [
        Span(
            row["created_at"],
            row["created_at"],
            "out",
            f"Queued: {row['kind']}",
            row["reason"],
            _facts(id=row["id"], state=row["state"], attempts=row["attempts"]),
            _texts(("What is said", row["text"])),
            SendState(row["state"]) in (SendState.FAILED, SendState.AMBIGUOUS),
        )
        for row in rows.outbound
    ]
    handed = [
        Span(
            call["started_at"],
            call["finished_at"] or call["started_at"],
            "provider",
            "Handed to the provider",
            "" if call["outcome"] in _GOES_WELL else f"{call['outcome']} {call['error_code']}".strip(),
            _facts(
                part=call["part"], attempt=call["attempt"], outcome=call["outcome"], provider_id=call["provider_id"]
            ),
            _texts(("As sent", call["part_text"])),
            call["outcome"] not in {*_GOES_WELL, CallOutcome.FOUND},
        )
        for call in rows.deliveries
    ]
    told = [
        Span(
            part["status_at"],
            part["status_at"],
            "provider",
            f"Provider says: {part['status']}",
            part["error_code"],
            _facts(part=part["part"], provider_id=part["provider_id"]),
            failed=bool(part["error_code"]),
        )
        for part in rows.statuses
    ]
    return [*queued, *handed, *told]


def _title(step: asyncpg.Record) -> str:
    kind, name = StepKind(step["kind"]), step["name"]
    match kind:
        case StepKind.MODEL if not name:
            return "Begins with a call"  # no model was asked
        case StepKind.MODEL:
            return f"{name}: asks for tools" if step["result"].get("tool_calls") else f"{name}: answers"
        case StepKind.AGENT if step["call_index"] > 1:
            # It had asked something, and goes on.
            return f"{name} at work, run {step['call_index']}"
        case StepKind.AGENT:
            return f"{name} at work"
        case StepKind.TOOL:
            return str(name)
        case _:
            return f"{kind.value.capitalize()} {name}".strip()


def _calls(result: object) -> list[JsonObject]:
    return objects_in(object_of(result).get("tool_calls"))


def _facts(**facts: object) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", " "), str(value)) for name, value in facts.items() if value not in ("", None))


def _texts(*texts: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in texts if text)
