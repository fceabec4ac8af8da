"""Answers to messages that were sent to other people on a person's behalf.

They are passed to that person, as words of a third party: the sender does not become a tenant, is not greeted, and
costs no model call.
"""

import re
from datetime import datetime

import structlog

from abilities.outreach.types import ANSWERS_WITHIN, MAX_ANSWER, MAX_ANSWERS, AnswerOutcome
from core.db.database import Database
from core.json_types import JsonObject
from core.messaging.channels import Received
from core.messaging.messages import InboundMessage
from core.messaging.states import IdentityState

_STOP = re.compile(r"/?(?:stop|stopall|unsubscribe)[.! ]*", re.IGNORECASE)
_START = re.compile(r"/?(?:start|unstop)[.! ]*", re.IGNORECASE)
_FILES = "📎"
"""Stands for a file, which is not handed on."""

_log = structlog.get_logger()


async def take_answer(
    database: Database, message: InboundMessage, arrival: JsonObject, now: datetime
) -> Received | None:
    """Pass on a sender's answer; None if no answer of theirs is awaited."""
    row = await database.one(
        "select take_answer($1,$2,$3,$4,$5,$6) as outcome",
        arrival,
        _said(message),
        _opts(message.text),
        now,
        now - ANSWERS_WITHIN,
        MAX_ANSWERS,
    )
    outcome = AnswerOutcome(row["outcome"])
    if outcome is AnswerOutcome.NONE:
        return None
    _log.info("answer_received", channel=message.address.channel, outcome=outcome.value)
    return Received(message.keys[0] if message.keys else None, duplicate=outcome is AnswerOutcome.DUPLICATE)


def _said(message: InboundMessage) -> str:
    files = _FILES * min(len(message.media), 10)
    text = message.text if len(message.text) <= MAX_ANSWER else f"{message.text[:MAX_ANSWER]}…"
    return "\n".join(filter(None, (text, files)))


def _opts(text: str) -> str:
    """Return the state that a text asks for, if it is the word for it and nothing else."""
    words = text.strip()
    if _STOP.fullmatch(words):
        return IdentityState.OPTED_OUT.value
    return IdentityState.ACTIVE.value if _START.fullmatch(words) else ""
