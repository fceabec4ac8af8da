"""Receive groups' messages and events: one round trip each, and a turn only if we are addressed."""

import re
from dataclasses import replace
from enum import StrEnum

import structlog

from abilities.groups import sentences
from abilities.groups.chat_words import GROUPS, OFF, ON, read_argument
from core.db.database import Database
from core.ids import IdMaker
from core.inbox.arrival import from_address, of_message
from core.inbox.overload import Overload
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.messaging.channels import Received
from core.messaging.chat_reader import chat_words
from core.messaging.messages import IgnoredMessage, InboundMessage, InGroup
from core.messaging.visible_text import plain_words
from core.people.access_policy import Access, Policy
from core.queue.limits import BacklogLimits
from core.queue.wakeups import Wakeups

_MAX_NAME = 40
_NOBODY = "somebody"
"""The model's name for a member who writes in the name of the group or of a channel."""
_MARKS = re.compile(r"[:<>]")
_log = structlog.get_logger()


class Outcome(StrEnum):
    """The outcome of an event in a group, as `take_in_group` names it."""

    ASKED = "asked"
    OFF = "off"
    LEFT = "left"
    RENAMED = "renamed"
    HEARD = "heard"
    STRANGER = "stranger"
    RECEIVED = "received"
    AGAIN = "again"


async def take_in_group(
    database: Database, wakeups: Wakeups, make_id: IdMaker, access: Access, message: IgnoredMessage
) -> Received | None:
    """Take an event in a group; return None if we take no part there."""
    group = message.group or InGroup("")
    said = _read(group.message)
    arrival = (
        of_message(said, message.sender, access, make_id) if said else from_address(message, message.sender, make_id)
    )
    limits = BacklogLimits()
    row = await database.call(
        "select * from take_in_group($1,$2,$3,$4)",
        arrival,
        _event(group, said, tells=access.policy is not Policy.ALLOWLIST),
        limits.of_person,
        limits.of_all,
    )
    if row is None:
        return None
    _log.info("taken_in_group", channel=message.address.channel, outcome=row["outcome"])
    if row["conversation_id"]:
        wakeups.wake_delivery(row["conversation_id"])
    if said and row["refused"]:
        await Overload(database, wakeups, make_id, limits).tell(said, row, row["refused"])
    elif row["lane_id"]:
        wakeups.wake_turn(row["lane_id"])
        if row["interrupts"] or (said and said.command and said.command.name == "stop"):
            wakeups.interrupt_turn(row["lane_id"])
    again = bool(row["duplicate"]) or Outcome(row["outcome"]) is Outcome.AGAIN
    return Received(row["inbound_id"] or (message.keys[0] if message.keys else None), again)


def _read(said: InboundMessage | None) -> InboundMessage | None:
    """Return the words with the command that they are, typed with a slash or not."""
    if said is None or said.command is not None:
        return said
    return replace(said, command=chat_words().read(said.text, said.address.channel))


def _event(group: InGroup, said: InboundMessage | None, *, tells: bool) -> JsonObject:
    word = ""
    if said and said.command and said.command.name == GROUPS.name and group.addressed:
        word, _ = read_argument(said.command.argument)
    unknown = sentences.UNKNOWN if said and said.sender else sentences.NOBODY
    return {
        "title": shown_name(group.title),
        "inside": group.inside,
        "says": said is not None,
        "addressed": group.addressed,
        "word": word if word in (ON, OFF) else "",
        "name": shown_name(said.sender_name if said and said.sender else _NOBODY),
        "tells": tells,
        "on": sentences.in_all(lambda: gettext(sentences.ON)) if word == ON else None,
        "off": sentences.in_all(lambda: gettext(sentences.OFF)) if word == OFF else None,
        "unknown": sentences.in_all(lambda: gettext(unknown)) if group.addressed else None,
    }


def shown_name(name: str) -> str:
    """Return a name, which its owner chose, as a few plain words, without marks that mean something to us."""
    return " ".join(_MARKS.sub(" ", plain_words(name)).split())[:_MAX_NAME].strip()
