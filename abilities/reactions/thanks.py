"""A mere thanks, answered by a reaction: no model is asked, and nobody's phone rings for an answer without content."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from core.errors import DeliveryError
from core.messaging.capabilities import Reacting
from core.messaging.channels import NotificationChannel
from core.messaging.chat_words import CommandAnswer
from core.messaging.emoji import THUMB_UP
from core.messaging.messages import Address
from core.turns.words.asked import Asked

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Thanks:
    """React to people's messages, on the channels that can."""

    channels: Mapping[str, NotificationChannel]

    async def react(self, to: Address, message: str) -> bool:
        """Put a reaction on a message; return False if that was not possible. A repeat changes nothing."""
        channel = self.channels.get(to.channel)
        if not isinstance(channel, Reacting):
            return False
        try:
            await channel.react(to, message, THUMB_UP)
        except DeliveryError as error:
            _log.info("reaction_not_set", channel=to.channel, cause=type(error).__name__)
            return False
        return True


async def accept_thanks(asked: Asked) -> CommandAnswer | None:
    """Answer by a reaction; None if an agent waits for the person's answer, or the reaction cannot be set."""
    message = asked.turn.newest_message
    if asked.request.kept.pool or not message:
        return None
    if not await asked.service(Thanks).react(asked.turn.address, message):
        return None
    return CommandAnswer("", reason="reaction")
