"""The messages of a turn, and the capabilities of the channels that carry them.

If a person's program requested the turn, the program gets the answer; cards, private links and decisions go to the
person's chat.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import structlog

from core.approvals.cards import Card, card
from core.approvals.store import ApprovalStore
from core.approvals.types import NewApproval
from core.db.database import Database
from core.ids import IdMaker
from core.language.catalogue import gettext
from core.messaging.capabilities import Billed, Pressable, too_long
from core.messaging.channels import NotificationChannel
from core.messaging.due_messages import Claim
from core.messaging.messages import OutboundKind, OutboundMessage
from core.messaging.outbox import ClaimAfter
from core.messaging.programs import CHANNEL
from core.messaging.visible_text import literal
from core.questions.wording import QuestionCard
from core.questions.wording import card as question
from core.queue.claim_loop import Slot
from core.queue.wakeups import Wakeups
from core.turns.stored import BegunTurn, TurnEnd, TurnOutcome
from core.turns.types import Place, TurnRequest, TurnResult, TurnState

_log = structlog.get_logger()
_LINKS = r"/(?:connect|console|export)(?:/[^\s)>\]]*)?"


@dataclass(frozen=True, slots=True)
class TurnMessages:
    """A turn's messages: `outbound` and `questions` for its own conversation, the rest for `elsewhere` if it is set."""

    outbound: Sequence[OutboundMessage] = ()
    cards: Sequence[Card] = ()
    told: Sequence[OutboundMessage] = ()
    elsewhere: Place | None = None
    questions: Sequence[QuestionCard] = ()

    def end(self, outcome: TurnOutcome, state: TurnState, *, held: bool) -> TurnEnd:
        """Return the values to store at the turn's end; `held`: its cards wait for the end of quiet hours."""
        result, note = outcome.result, outcome.note
        return TurnEnd(
            state=state,
            reason=result.reason,
            usage=result.usage,
            history=() if note else result.history,
            outbound=self.outbound,
            absorbed=result.absorbed,
            new_session=outcome.new_session,
            pool=result.pool,
            waiting_step=result.waiting_step,
            cards=self.cards,
            cards_in=self.elsewhere.conversation_id if self.elsewhere else None,
            told=self.told,
            questions=self.questions,
            hold_cards=held,
            noted=result.noted,
            run=note,
        )


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
        note = gettext("{program}, a program to which you gave access, wants this.", program=program)
        noted = [replace(one, note=f"{note}\n{one.note}" if one.note else note) for one in result.approvals]
        cards = [card(one, shown.message.id) for one, shown in zip(noted, messages.cards, strict=True)]
        hidden = gettext("[a link, sent only to you]") if chat else gettext("[a link that only you may see]")
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


@dataclass(frozen=True, slots=True)
class ChannelCapabilities:
    """Set the capabilities of a turn's channels on its request. Without `programs` no turn is a program's."""

    channels: Mapping[str, NotificationChannel]
    programs: ProgramTurns | None = None

    async def of(self, turn: BegunTurn) -> TurnRequest:
        """Return the request with the capabilities: cards that are too long, voice notes read back, buttons."""
        answers, asks = self.channels.get(turn.address.channel), await self._where_cards_go(turn)

        def is_too_long(approval: NewApproval) -> bool:
            return asks is not None and too_long(card(approval, "").message, asks)

        says_heard = answers is not None and not isinstance(answers, Billed)
        # The text of a task's run goes out as a notification, which has no room for buttons.
        is_run = turn.request.sender is None
        has_buttons = isinstance(answers, Pressable) and answers.shows_buttons and not is_run
        place = turn.request.place
        place = replace(place, too_long=is_too_long, says_heard=says_heard, has_buttons=has_buttons)
        return replace(turn.request, place=place)

    async def _where_cards_go(self, turn: BegunTurn) -> NotificationChannel | None:
        """Return the channel for cards: for the request of a program, that of the person's own chat."""
        if turn.address.channel != CHANNEL or self.programs is None:
            return self.channels.get(turn.address.channel)
        chat = await self.programs.chat(turn.request.tenant.id)
        return self.channels.get(chat.channel or "") if chat else None


_FORGEABLE = ("sms", "email")
"""Channels whose senders prove less than a press does: a card of high risk is shown in another chat, too."""


@dataclass(frozen=True, slots=True)
class Sender:
    """This process' sender of messages. `hold` takes a slot for one; `claim_after` is that of the worker's outbox."""

    hold: Callable[[], Awaitable[Slot[Claim] | None]]
    claim_after: ClaimAfter


@dataclass(slots=True)
class AnswerSlot:
    """How the end of a turn claims its answer, and the claim once there is one."""

    _claim: ClaimAfter | None = None
    claimed: Claim | None = None

    def claim(self) -> ClaimAfter | None:
        """Return the way to claim it, at the first call only: an answer that cannot be claimed holds up no turn."""
        claim, self._claim = self._claim, None
        return claim


@dataclass(frozen=True, slots=True)
class TurnMessenger:
    """Create a turn's messages and wake their delivery."""

    make_id: IdMaker
    wakeups: Wakeups
    approvals: ApprovalStore | None = None
    programs: ProgramTurns | None = None
    sender: Sender | None = None

    async def of(self, turn: BegunTurn, outcome: TurnOutcome) -> TurnMessages:
        """Return a turn's messages. A task run has a notification instead of a reply, which its note holds."""
        result = outcome.result
        cards = [card(approval, self.make_id("out")) for approval in result.approvals]
        if outcome.note:
            return TurnMessages((), cards, (), turn.request.place if turn.request.place.conversation_id else None)
        questions = [question(asked, self.make_id("ask"), self.make_id("out")) for asked in result.questions]
        reply = OutboundMessage(self.make_id("out"), OutboundKind.REPLY, result.reply, media=result.media)
        messages = TurnMessages([reply] if result.reply or result.media else [], cards, questions=questions)
        if turn.address.channel != CHANNEL or self.programs is None:
            return messages
        return await self.programs.divide(turn, result, messages)

    @asynccontextmanager
    async def answering(self, messages: TurnMessages, lane_id: str) -> AsyncIterator[AnswerSlot]:
        """Send the answer that the turn's end claims in the block; wake its delivery elsewhere if none was claimed."""
        answers = bool(messages.outbound or messages.questions)
        slot = await self.sender.hold() if self.sender and answers else None
        answer = AnswerSlot(self.sender.claim_after if self.sender and slot else None)
        try:
            yield answer
        finally:
            if slot:
                slot.start(answer.claimed)
        if answers and answer.claimed is None:
            self.wakeups.wake_delivery(lane_id)

    async def show(self, turn: BegunTurn, messages: TurnMessages) -> None:
        """Wake the delivery of a turn's cards, and show high-risk cards of SMS and email in another chat too."""
        place = messages.elsewhere or turn.request.place
        if place.conversation_id:
            self.wakeups.wake_delivery(place.conversation_id)
        for shown in messages.cards:
            if shown.approval.high_risk and place.channel in _FORGEABLE and self.approvals is not None:
                try:
                    await self.approvals.show_elsewhere(turn.request.tenant.id, shown.approval.id, self.make_id("out"))
                except Exception:
                    # The turn has ended, and the card is in its own chat.
                    _log.exception("card_not_shown_elsewhere", turn=turn.turn_id)


def _person_had_part(request: TurnRequest) -> bool:
    """Return whether a turn continues after an act of its person: a decided card, or a connected account."""
    if request.go_on_at is None:
        return False
    decided = any(approval.turn_id == request.turn_id for approval in request.kept.approvals)
    return decided or any(entry.turn_id == request.turn_id and entry.needs for entry in request.kept.pool)
