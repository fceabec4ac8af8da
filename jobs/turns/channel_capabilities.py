"""The capabilities of channels that a turn depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.approvals.cards import card
from core.approvals.types import NewApproval
from core.loop.answer_limits import too_long
from core.messaging.capabilities import Billed, Pressable
from core.messaging.channels import NotificationChannel
from core.messaging.programs import CHANNEL
from core.turns.types import BegunTurn, TurnRequest
from jobs.turns.program_turns import ProgramTurns


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
        # What a task's run says goes out as a notification, which has no room for buttons.
        is_run = turn.request.sender is None
        has_buttons = isinstance(answers, Pressable) and answers.shows_buttons and not is_run
        place = turn.request.place
        place = replace(place, too_long=is_too_long, says_heard=says_heard, has_buttons=has_buttons)
        return replace(turn.request, place=place)

    async def _where_cards_go(self, turn: BegunTurn) -> NotificationChannel | None:
        """Return the channel on which the person is asked: a program asks, and they are asked in their own chat."""
        if turn.address.channel != CHANNEL or self.programs is None:
            return self.channels.get(turn.address.channel)
        chat = await self.programs.chat(turn.request.tenant.id)
        return self.channels.get(chat.channel or "") if chat else None
