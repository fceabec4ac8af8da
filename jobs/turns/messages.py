"""What a turn says: in its own conversation, or where its person is asked."""

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
from jobs.turns.program_turns import ClientTurns, Place, Said
from jobs.turns.results import TurnOutcome

_FORGEABLE = ("sms", "email")
"""Channels whose senders prove less than a press does: a card of high risk is shown in another chat, too."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TurnSpeech:
    """Make a turn's messages, and see that they are sent."""

    make_id: IdMaker
    wakeups: Wakeups
    approvals: ApprovalStore | None = None
    clients: ClientTurns | None = None

    async def of(self, turn: BegunTurn, outcome: TurnOutcome) -> Said:
        """Return what a turn says, and where. What a run says goes out as a notification, which its note holds."""
        result = outcome.result
        cards = [card(approval, self.make_id("out")) for approval in result.approvals]
        if outcome.note:
            here = turn.request.conversation_id
            return Said((), cards, (), Place(here, turn.address.channel) if here else None)
        questions = [question(asked, self.make_id("ask"), self.make_id("out")) for asked in result.questions]
        reply = OutboundMessage(self.make_id("out"), OutboundKind.REPLY, result.reply, media=result.media)
        said = Said([reply] if result.reply or result.media else [], cards, questions=questions)
        if turn.address.channel != CHANNEL or self.clients is None:
            return said
        return await self.clients.divide(turn, result, said)

    async def show(self, turn: BegunTurn, said: Said) -> None:
        """Wake the delivery of a turn's cards, and show high-risk cards of SMS and email in another chat too."""
        place = said.elsewhere or Place(turn.request.conversation_id or "", turn.address.channel)
        if place.id:
            self.wakeups.wake_delivery(place.id)
        for shown in said.cards:
            if shown.approval.high_risk and place.channel in _FORGEABLE and self.approvals is not None:
                try:
                    await self.approvals.show_elsewhere(turn.request.tenant.id, shown.approval.id, self.make_id("out"))
                except Exception:
                    # The turn has ended, and the card is in its own chat.
                    _log.exception("card_not_shown_elsewhere", turn=turn.turn_id)
