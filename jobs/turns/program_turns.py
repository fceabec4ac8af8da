"""Turns that a person's program requested: the program gets the answer.

Cards, private links and decisions go to the person's chat, not to the program.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.approvals.cards import Card, card
from core.db.database import Database
from core.ids import IdMaker
from core.language.catalogue import gettext
from core.messaging.messages import OutboundKind, OutboundMessage
from core.messaging.visible_text import literal
from core.questions.wording import QuestionCard
from core.turns.types import BegunTurn, Place, TurnRequest, TurnResult

_LINKS = r"/(?:connect|console|export)(?:/[^\s)>\]]*)?"


@dataclass(frozen=True, slots=True)
class TurnMessages:
    """A turn's messages: `outbound` and `questions` for its own conversation, the rest for `elsewhere` if it is set."""

    outbound: Sequence[OutboundMessage] = ()
    cards: Sequence[Card] = ()
    told: Sequence[OutboundMessage] = ()
    elsewhere: Place | None = None
    questions: Sequence[QuestionCard] = ()


class ProgramTurns:
    """Divide the messages of a program's turn between the program and the person's chat.

    `chat_of` returns the conversation in which news reaches a person first; `public_url`: the beginning of our links.
    """

    def __init__(
        self, database: Database, make_id: IdMaker, chat_of: Callable[[str], Awaitable[str | None]], public_url: str
    ) -> None:
        self._database = database
        self._make_id = make_id
        self._chat_of = chat_of
        self._public_url = public_url.rstrip("/")

    async def chat(self, tenant_id: str) -> Place | None:
        """Return the chat in which questions reach a person; None if they have none now."""
        chat = await self._chat_of(tenant_id)
        row = chat and await self._database.tenant_row(
            tenant_id, "select channel from conversations where tenant_id = $1 and id = $2", chat
        )
        return Place(row["channel"], chat) if chat and row else None

    async def divide(self, turn: BegunTurn, result: TurnResult, messages: TurnMessages) -> TurnMessages:
        """Return the messages with their destinations. Without a chat, cards wait in the console and in `pending`."""
        tenant_id = turn.request.tenant.id
        chat, program = await self.chat(tenant_id), await self._name(tenant_id, turn.address.peer)
        note = gettext("{program} wants this, a program to which you gave access.", program=program)
        noted = [replace(one, note=f"{note}\n{one.note}" if one.note else note) for one in result.approvals]
        cards = [card(one, shown.message.id) for one, shown in zip(noted, messages.cards, strict=True)]
        hidden = gettext("[a link, which only you are sent]") if chat else gettext("[a link, which only you may see]")
        shown = self._private.sub(hidden, result.reply)
        told = list[OutboundMessage]()
        # Decisions in the chat are answered there, too; the program's own answers are not.
        if chat is not None and result.reply and (_person_had_part(turn.request) or shown != result.reply):
            text = gettext("{program} asked for something, and this is the answer:", program=literal(program))
            told = [OutboundMessage(self._make_id("out"), OutboundKind.NOTIFICATION, f"{text}\n\n{result.reply}")]
        outbound = [replace(message, text=shown) for message in messages.outbound]
        return replace(messages, outbound=outbound, cards=cards, told=told, elsewhere=chat)

    @cached_property
    def _private(self) -> re.Pattern[str]:
        # The person's own links, to any page: a service's page would act for anybody who opens it.
        return re.compile(rf"{re.escape(self._public_url)}{_LINKS}" if self._public_url else r"(?!)")

    async def _name(self, tenant_id: str, token_id: str) -> str:
        row = await self._database.tenant_row(
            tenant_id, "select name from client_tokens where tenant_id = $1 and id = $2", token_id
        )
        return row["name"] if row else gettext("A program")


def _person_had_part(request: TurnRequest) -> bool:
    """Return whether a turn continues after an act of its person: a decided card, or a connected account."""
    if request.go_on_at is None:
        return False
    decided = any(approval.turn_id == request.turn_id for approval in request.kept.approvals)
    return decided or any(entry.turn_id == request.turn_id and entry.needs for entry in request.kept.pool)
