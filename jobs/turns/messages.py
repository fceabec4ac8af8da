"""Create a turn's messages and wake their delivery."""

from dataclasses import dataclass

import structlog

from core.approvals.cards import card
from core.approvals.store import ApprovalStore
from core.ids import IdMaker
from core.messaging.messages import OutboundKind, OutboundMessage
from core.messaging.programs import CHANNEL
from core.questions.wording import card as question
from core.queue.wakeups import Wakeups
from core.turns.types import BegunTurn
from jobs.turns.program_turns import ProgramTurns, TurnMessages
from jobs.turns.results import TurnOutcome

_FORGEABLE = ("sms", "email")
"""Channels whose senders prove less than a press does: a card of high risk is shown in another chat, too."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TurnMessenger:
    """Create a turn's messages and wake their delivery."""

    make_id: IdMaker
    wakeups: Wakeups
    approvals: ApprovalStore | None = None
    programs: ProgramTurns | None = None

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
