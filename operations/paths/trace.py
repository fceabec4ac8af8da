"""The path of a message, from its receipt to the provider's last status of the answer: ids and states, never text."""

from collections.abc import Iterable

import asyncpg

from core.db.database import Connection, Database, fetch_one
from core.errors import ConfigError
from core.journal.types import Outcome, StepKind
from core.messaging.states import CallOutcome, SendState
from core.turns.links import MADE_UP
from operations.paths.transcript import label
from operations.paths.types import Line, path_readers

_LINKS, _LONG_LINK = 10, 100
"""Links of a step that are shown, and characters of each."""
WITHOUT_LOOK_UP = frozenset({"telegram", "email"})
"""Channels without look-up: a policy says whether a part with an unknown outcome is sent again."""
_DELIVERIES = """
select d.*, e.state as part_state, c.channel, exists (
    select 1 from deliveries n where n.tenant_id = d.tenant_id and n.outbound_id = d.outbound_id
    and n.part = d.part and n.attempt > d.attempt) as again
from deliveries d
join outbound_parts e on e.tenant_id = d.tenant_id and e.outbound_id = d.outbound_id and e.part = d.part
join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id
join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
where d.tenant_id = $1 and d.outbound_id = $2
"""


async def trace(database: Database, wanted: str) -> list[Line]:
    """Return the path as lines with `at` and `what`; raise `ConfigError` for an unknown id."""
    ids = await database.call("select * from find_trace($1)", wanted)
    if ids is None:
        ignored = await database.call("select key, reason, received_at from ignored_messages where key = $1", wanted)
        if ignored is None:
            raise ConfigError(f"Nothing is known of {wanted}: give the id of a message, a turn or an answer.")
        return [{"at": ignored["received_at"], "what": "ignored", "reason": ignored["reason"]}]
    tenant = ids["tenant_id"]
    async with database.tenant(tenant) as connection:
        if ids["turn_id"]:
            return await _turn_lines(connection, tenant, ids["turn_id"])
        if ids["outbound_id"]:
            return _in_order(await _outbound_lines(connection, tenant, ids["outbound_id"]))
        return _in_order(await _inbound_lines(connection, tenant, ids["inbound_id"]))


async def _turn_lines(connection: Connection, tenant: str, turn: str) -> list[Line]:
    row = await fetch_one(connection, "select * from turns where tenant_id = $1 and id = $2", tenant, turn)
    lines = await _inbound_lines(connection, tenant, turn)
    for reader in path_readers():
        lines += await reader.lines(connection, tenant, turn)
    begun = {"id": turn, "attempts": row["attempts"], "solo_crashes": row["solo_crashes"]}
    lines.append({"at": row["started_at"], "what": "turn begun", **begun})
    if row["model_down_since"]:
        lines.append({"at": row["model_down_since"], "what": "model down", "tries": row["model_tries"]})
    for step in await connection.fetch("select * from steps where tenant_id = $1 and turn_id = $2", tenant, turn):
        lines.append(_step_line(step))
    if row["finished_at"]:
        lines.append({"at": row["finished_at"], "what": "turn ended", "state": row["state"], "reason": row["reason"]})
    lines += await _outbound_lines(connection, tenant, turn)
    return _in_order(lines)


async def _inbound_lines(connection: Connection, tenant: str, wanted: str) -> list[Line]:
    rows = await connection.fetch(
        "select i.*, c.channel, array(select k.key from inbox_keys k where k.tenant_id = i.tenant_id"
        " and k.inbound_id = i.id order by k.key) as keys from inbound i join conversations c"
        " on c.tenant_id = i.tenant_id and c.id = i.conversation_id"
        " where i.tenant_id = $1 and (i.id = $2 or i.turn_id = $2)",
        tenant,
        wanted,
    )
    return [
        {
            "at": row["received_at"],
            "what": "received",
            "id": row["id"],
            "channel": row["channel"],
            "seq": row["seq"],
            "keys": ",".join(row["keys"]),
            "sent_at": row["sent_at"],
            "state": row["state"],
            "reason": row["reason"],
        }
        for row in rows
    ]


async def _outbound_lines(connection: Connection, tenant: str, wanted: str) -> list[Line]:
    rows = await connection.fetch(
        "select o.* from outbound o where o.tenant_id = $1 and (o.id = $2 or o.turn_id = $2)", tenant, wanted
    )
    lines: list[Line] = []
    for row in rows:
        lines.append(
            {
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
        )
        lines += [_delivery_line(delivery) for delivery in await connection.fetch(_DELIVERIES, tenant, row["id"])]
        lines += [
            {"at": part["status_at"], "what": part["status"], "id": part["provider_id"], "code": part["error_code"]}
            for part in await connection.fetch(
                "select * from outbound_parts where tenant_id = $1 and outbound_id = $2 and status_at is not null",
                tenant,
                row["id"],
            )
        ]
    return lines


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


def _in_order(lines: list[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: str(line["at"]))
