"""The question that precedes a long answer by SMS; the answer itself waits in the outbox."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from abilities.cost.chat_words import CHAT, READ, SEND, SHORT
from abilities.cost.held import WAIT
from abilities.cost.shortening import shorten
from core.clock import Clock
from core.db.database import Database
from core.language.catalogue import gettext, ngettext, speaking
from core.language.money import Currency
from core.messaging.calls import Rendered
from core.messaging.capabilities import Dividing
from core.messaging.channels import Part
from core.messaging.chat_words import ChatCommand
from core.messaging.due_messages import Claim, DueMessage
from core.messaging.help_words import MORE
from core.messaging.holding import FEW, Portions
from core.messaging.messages import OutboundKind, OutboundMessage
from core.people.chat_names import channel_name

SHORTENED = 3
"""Segments of a shortened answer, at most."""


@dataclass(frozen=True, slots=True)
class LongAnswers:
    """Hold long answers back. `most`: segments that are sent without a question; `links`: whether there are any."""

    database: Database
    clock: Clock
    currency: Currency
    most: int
    links: bool

    async def parts_of(
        self, claim: Claim, due: DueMessage, channel: Dividing, rendered: Rendered, portions: Portions
    ) -> Rendered:
        """Return the parts of an answer: as they are, or a question first and the answer as further portions."""
        if due.message.kind is not OutboundKind.REPLY or due.exact or not due.own_chat:
            return rendered
        whole = await asyncio.to_thread(portions, None, _as_it_is)
        segments = sum(part.segments for part in whole)
        if segments <= FEW:
            return rendered
        now = self.clock.now()
        held = await self.database.one(
            "select * from hold_answer($1,$2,$3,$4,$5,$6,$7)",
            claim.tenant_id,
            claim.outbound_id,
            claim.fence,
            segments,
            self.most,
            now,
            now + WAIT,
        )
        if held["way"] == "whole":
            return Rendered(whole, rendered.text)
        if held["way"] != "ask":
            return rendered
        price = channel.budget.price_of(due.address.peer, segments)
        with speaking(due.language):
            question = self._question(segments, price, held["other"])
        asked = channel.portions(OutboundMessage(due.message.id, OutboundKind.RECEIPT, question))
        short = await asyncio.to_thread(_shortened, portions, whole, due.language)
        rest = await asyncio.to_thread(portions, channel.budget.message, _without_files)
        further = [*short, *(replace(part, portion=part.portion + 1) for part in rest)]
        return Rendered([*asked, *(replace(part, portion=part.portion + 1) for part in further)], rendered.text)

    def _question(self, segments: int, price: Decimal | None, other: str | None) -> str:
        size = (
            ngettext("My answer is {number} text long.", "My answer is {number} texts long.", segments)
            if price is None
            else ngettext(
                "My answer is {number} text long and costs {price}.",
                "My answer is {number} texts long and costs {price}.",
                segments,
                price=self.currency.said(price),
            )
        )
        ways = [
            gettext("{word}: all of it", word=_typed(SEND)),
            gettext("{word}: a shortened one", word=_typed(SHORT)),
        ]
        if self.links:
            ways.append(gettext("{word}: a link to it", word=_typed(READ)))
        if other:
            ways.append(gettext("{word}: in {channel}", word=_typed(CHAT), channel=channel_name(other)))
        otherwise = (
            gettext("If you do not choose, a shortened one and a link come in an hour.")
            if self.links
            else gettext("If you do not choose, a shortened one comes in an hour.")
        )
        return "\n".join([size, *ways, otherwise])


def _typed(word: ChatCommand) -> str:
    return word.word().upper()


def _shortened(portions: Portions, whole: Sequence[Part], language: str | None) -> Sequence[Part]:
    """Return a shortened answer, with its files: MORE sends all of it."""
    with speaking(language):
        note = gettext("(Shortened. {word}: all of it)", word=_typed(MORE))
    written = sum(len(part.text) for part in whole)
    room = written * SHORTENED // sum(part.segments for part in whole) - len(note)
    while True:
        change = partial(_in_short, room, note)
        parts = portions(None, change)
        if sum(part.segments for part in parts) <= SHORTENED or room <= 0:
            return parts
        room -= max(room // 10, 1)


def _in_short(room: int, note: str, message: OutboundMessage) -> OutboundMessage:
    return replace(message, text=f"{shorten(message.text, room)}\n\n{note}")


def _as_it_is(message: OutboundMessage) -> OutboundMessage:
    return message


def _without_files(message: OutboundMessage) -> OutboundMessage:
    return replace(message, media=(), files=())
