"""The path of a message, from its receipt to the provider's last status of the answer: ids and states, never text."""

from collections.abc import Iterable, Iterator

import asyncpg

from core.db.database import Database
from core.errors import ConfigError
from core.journal.types import Outcome, StepKind
from core.messaging.states import CallOutcome, SendState
from core.turns.links import MADE_UP
from operations.paths.rows import PathRows, how_decided, read_rows
from operations.paths.transcript import label
from operations.paths.types import Line, steps_of_abilities

_LINKS, _LONG_LINK = 10, 100
"""Links of a step that are shown, and characters of each."""
WITHOUT_LOOK_UP = frozenset({"telegram", "email"})
"""Channels without look-up: a policy says whether a part with an unknown outcome is sent again."""


async def trace(database: Database, wanted: str) -> list[Line]:
    """Return the path as lines with `at` and `what`; raise `ConfigError` for an unknown id."""
    ids = await database.call("select * from find_trace($1)", wanted)
    if ids is None:
        ignored = await database.call("select key, reason, received_at from ignored_messages where key = $1", wanted)
        if ignored is None:
            raise ConfigError(f"Nothing is known of {wanted}: give the id of a message, a turn or an answer.")
        return [{"at": ignored["received_at"], "what": "ignored", "reason": ignored["reason"]}]
    tenant, turn = ids["tenant_id"], ids["turn_id"]
    async with database.tenant(tenant) as connection:
        rows = await read_rows(connection, tenant, turn or ids["outbound_id"] or ids["inbound_id"])
        lines = [*map(_inbound_line, (*rows.inbound, *rows.changes)), *map(_decision_line, rows.decisions)]
        for row in rows.turns:
            lines += [step.line for step in await steps_of_abilities(connection, tenant, turn) if step.what]
            lines += _turn_lines(row, rows.steps)
    # Of the same moment, the end of a turn stands before its answer.
    return sorted([*lines, *_outbound_lines(rows)], key=lambda line: str(line["at"]))


def _turn_lines(row: asyncpg.Record, steps: Iterable[asyncpg.Record]) -> Iterator[Line]:
    begun = {"id": row["id"], "attempts": row["attempts"], "solo_crashes": row["solo_crashes"]}
    yield {"at": row["started_at"], "what": "turn begun", **begun}
    if row["model_down_since"]:
        yield {"at": row["model_down_since"], "what": "model down", "tries": row["model_tries"]}
    yield from map(_step_line, steps)
    if row["finished_at"]:
        yield {"at": row["finished_at"], "what": "turn ended", "state": row["state"], "reason": row["reason"]}


def _inbound_line(row: asyncpg.Record) -> Line:
    return {
        "at": row["received_at"],
        "what": "changed" if row["amends"] else "received",
        "id": row["id"],
        "channel": row["channel"],
        "seq": row["seq"],
        "keys": ",".join(row["keys"]),
        "sent_at": row["sent_at"],
        "state": row["state"],
        "reason": row["reason"],
        "amends": row["amends"] or "",
    }


def _decision_line(row: asyncpg.Record) -> Line:
    return {
        "at": row["at"],
        "what": row["what"],
        "id": row["approval_id"],
        "how": how_decided(row),
        "channel": row["channel"],
    }


def _outbound_lines(rows: PathRows) -> Iterator[Line]:
    for row in rows.outbound:
        yield {
            "at": row["created_at"],
            "what": "queued",
            "id": row["id"],
            "kind": row["kind"],
            "seq": row["seq"],
            "state": row["state"],
            "reason": row["reason"],
            "next_try": row["next_attempt_at"] if row["state"] in (SendState.READY, SendState.CHECKING) else None,
            "given_up_at": row["given_up_at"],
            "told_by": row["told_missing_by"],
        }
        yield from (_delivery_line(call) for call in rows.deliveries if call["outbound_id"] == row["id"])
        for part in rows.statuses:
            if part["outbound_id"] == row["id"]:
                yield {
                    "at": part["status_at"],
                    "what": part["status"],
                    "id": part["provider_id"],
                    "code": part["error_code"],
                }


def _step_line(step: asyncpg.Record) -> Line:
    kind = StepKind(step["kind"])
    return {
        "at": step["finished_at"] or step["started_at"],
        "what": label(kind, Outcome(step["outcome"]), calls=bool(step["result"].get("tool_calls"))),
        "step": f"{step['agent_path']}{step['step']}.{step['call_index']}",
        "name": step["name"],
        "state": step["state"],
        "outcome": step["outcome"],
        "effect": step["effect"] if kind is StepKind.TOOL else "",
        "links": _without_queries(step["result"].get("links", ())) if step["name"] == MADE_UP else "",
        "ms": step["duration_ms"],
    }


def _without_queries(links: Iterable[str]) -> str:
    """Return addresses that a model made up, without the parts that could carry data out."""
    shown = [address.partition("?")[0].partition("#")[0] for address in links]
    return ",".join(f"{address[:_LONG_LINK]}…" if len(address) > _LONG_LINK else address for address in shown[:_LINKS])


def _delivery_line(delivery: asyncpg.Record) -> Line:
    return {
        "at": delivery["finished_at"] or delivery["started_at"],
        "what": delivery["outcome"],
        "part": delivery["part"],
        "attempt": delivery["attempt"],
        "id": delivery["provider_id"],
        "code": delivery["error_code"],
        "answer_lost": _resolved(delivery),
    }


def _resolved(delivery: asyncpg.Record) -> str:
    """Return how the outcome of a send without an answer was determined; empty for other sends."""
    match delivery["outcome"]:
        case CallOutcome.FOUND:
            return "found by look-up"
        case CallOutcome.LEFT:
            return "left as it is"
    if delivery["outcome"] != CallOutcome.AMBIGUOUS:
        return ""
    if delivery["again"]:
        return "sent again by policy" if delivery["channel"] in WITHOUT_LOOK_UP else "not found, sent again"
    known = {SendState.SENT: "told by the provider", SendState.AMBIGUOUS: "given up"}
    return known.get(delivery["part_state"], "being looked up")
