"""Answers to messages that were written to somebody on a person's behalf.

They are handed to that person, as words of others: whoever answers becomes nobody's tenant, is not greeted, and costs
no model call.
"""

import re
from dataclasses import dataclass

import structlog

from core.clock import Clock
from core.db.database import Database
from core.ids import IdMaker
from core.inbox.arrival import of_message
from core.messaging.channels import Received
from core.messaging.messages import InboundMessage
from core.messaging.states import IdentityState
from core.outreach.types import ANSWERS_WITHIN, MAX_ANSWER, MAX_ANSWERS, AnswerOutcome
from core.people.access_policy import Access

_STOP = re.compile(r"/?(?:stop|stopall|unsubscribe)[.! ]*", re.IGNORECASE)
_START = re.compile(r"/?(?:start|unstop)[.! ]*", re.IGNORECASE)
_FILES = "📎"
"""Stands for a file, which is not handed on."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class OutreachAnswers:
    """Take in answers."""

    database: Database
    make_id: IdMaker
    access: Access
    clock: Clock

    async def take(self, message: InboundMessage, sender: str) -> Received | None:
        """Hand on what its sender answers; None where no answer of theirs is waited for."""
        now, address = self.clock.now(), message.address
        row = await self.database.one(
            "select take_answer($1,$2,$3,$4,$5,$6) as outcome",
            of_message(message, sender, self.access, self.make_id),
            _said(message),
            _opts(message.text),
            now,
            now - ANSWERS_WITHIN,
            MAX_ANSWERS,
        )
        outcome = AnswerOutcome(row["outcome"])
        if outcome is AnswerOutcome.NONE:
            return None
        _log.info("answer_received", channel=address.channel, outcome=outcome.value)
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
