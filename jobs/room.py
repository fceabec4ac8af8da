"""What a conversation's channel has room for, as its turn has to know it."""

from dataclasses import replace

from core.approvals.cards import card
from core.approvals.types import NewApproval
from core.loop.answer_limits import too_long
from core.messaging.channels import Billed, NotificationChannel
from core.turns.types import TurnRequest


def with_room(request: TurnRequest, channel: NotificationChannel | None) -> TurnRequest:
    """Return a turn that knows which cards are too long, and whether what was heard is said back."""

    def is_too_long(approval: NewApproval) -> bool:
        return channel is not None and too_long(card(approval, "").message, channel)

    says_heard = channel is not None and not isinstance(channel, Billed)
    return replace(request, too_long=is_too_long, says_heard=says_heard)
