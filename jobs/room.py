"""What a conversation's channel has room for, as its turn has to know it."""

from dataclasses import replace

from core.approvals.cards import card
from core.approvals.types import NewApproval
from core.loop.answer_limits import too_long
from core.messaging.channels import Billed, NotificationChannel, Pressable
from core.turns.types import TurnRequest


def with_room(request: TurnRequest, channel: NotificationChannel | None) -> TurnRequest:
    """Return a turn that knows which cards are too long, whether what was heard is said back, and of buttons."""

    def is_too_long(approval: NewApproval) -> bool:
        return channel is not None and too_long(card(approval, "").message, channel)

    says_heard = channel is not None and not isinstance(channel, Billed)
    # What a task's run says goes out as a notification, which has no room for buttons.
    has_buttons = isinstance(channel, Pressable) and channel.shows_buttons and request.sender is not None
    return replace(request, too_long=is_too_long, says_heard=says_heard, has_buttons=has_buttons)
