"""Counts lost and doubled messages: the providers' messages, compared with the assistant's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.db.database import Database
from core.json_types import JsonObject
from core.messaging.states import SendState

_LAST = 60
"""Number of messages read of each chat."""
_FOUND = (
    "select w.id, t.tenant_id, t.turn_id, t.inbound_id, t.outbound_id,"
    " exists (select from ignored_messages g where g.key = w.id or g.key like 'ts:%:' || w.id) as ignored"
    " from unnest($1::text[]) as w(id) left join lateral find_trace(w.id) t on true"
)
"""The owner of an id. A stranger's message has only its keys, which also name the channel in Slack."""
_ENDED = "select id from inbound where tenant_id = $1 and id = any ($2) and state in ('done', 'ignored')"
"""Those that ended without a turn: STOP, say."""


@dataclass(frozen=True, slots=True)
class Said:
    """The providers' ids of messages by and to people, in all chats, with the texts of the latter."""

    by_people: tuple[str, ...]
    to_people: tuple[tuple[str, str], ...]


async def tally(database: Database, states: Mapping[str, Any]) -> JsonObject:
    """Return the numbers of messages: written, answered, waiting, without need of a turn, lost, and doubled."""
    said = said_in(states)
    written = await database.rows(_FOUND, list(said.by_people))
    sent = await database.rows(_FOUND, [id for id, _ in said.to_people])
    done = waiting = lost = ignored = 0
    turns: dict[str, list[str]] = {}
    without: dict[str, list[str]] = {}
    for row in written:
        if row["turn_id"] is not None:
            turns.setdefault(row["tenant_id"], []).append(row["turn_id"])
        elif row["ignored"]:
            ignored += 1
        elif row["inbound_id"] is not None:
            without.setdefault(row["tenant_id"], []).append(row["inbound_id"])
        else:
            waiting += 1  # not taken in yet
    for tenant, ids in without.items():
        ended = len(await database.tenant_rows(tenant, _ENDED, ids))
        ignored += ended
        waiting += len(ids) - ended
    for tenant, ids in turns.items():
        rows = await database.tenant_rows(
            tenant,
            "select t.id, t.finished_at, coalesce(bool_or(o.state = any ($3)), false) as failed,"
            " coalesce(bool_or(o.state = $4), false) as sent,"
            " coalesce(bool_or(o.state = any ($5)), false) as open from turns t left join outbound o"
            " on o.tenant_id = t.tenant_id and o.turn_id = t.id where t.tenant_id = $1 and t.id = any ($2)"
            " group by t.id, t.finished_at",
            ids,
            [SendState.FAILED.value],
            SendState.SENT.value,
            [SendState.READY.value, SendState.SENDING.value, SendState.CHECKING.value],
        )
        known = {row["id"]: row for row in rows}
        for turn in ids:
            found = known.get(turn)
            if found is None or found["failed"]:
                lost += 1
            elif found["open"] or (found["finished_at"] is None and not found["sent"]):
                waiting += 1
            else:
                done += 1
    known_ids = {row["id"] for row in sent if row["outbound_id"] is not None}
    known_texts = {text for id, text in said.to_people if id in known_ids}
    return {
        "written": len(said.by_people),
        "answered": done,
        "waiting": waiting,
        "ignored": ignored,
        "lost": lost,
        # Messages unknown to the assistant with a known text: a call whose answer was lost, made again.
        "doubled": sum(id not in known_ids and text in known_texts for id, text in said.to_people),
    }


def said_in(states: Mapping[str, Any]) -> Said:
    """Return the messages that people wrote and received, from the providers' states."""
    written: list[str] = []
    received: list[tuple[str, str]] = []
    for person in states["twilio"]["people"].values():
        for one in _last(person["bubbles"]):
            if one["direction"] == "in":
                written.append(one["id"])
            elif not one["automatic"]:
                received.append((one["id"], one["text"]))
    for person in states["slack"]["people"].values():
        for one in _last(person["bubbles"]):
            if one["from"] == "bot" and not one.get("ephemeral"):
                received.append((one["ts"], one["fallback"]))
            elif one["from"] != "bot":
                written.append(one["ts"])
    for person in states["telegram"]["people"].values():
        for one in _last(person["messages"]):
            if one["direction"] == "in":
                written.append(f"message:{one['id']}")
            else:
                received.append((str(one["message_id"]), one["text"]))
    return Said(tuple(written), tuple(received))


def _last(items: Iterable[Any]) -> list[Any]:
    return list(items)[-_LAST:]
