"""Answers to the words about halts that were not carried out as they came in."""

from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.messaging.talk_words import INTERRUPT
from core.people.access_policy import PersonRole
from core.turns.words.asked import Asked


async def refused(asked: Asked) -> CommandAnswer:
    """Reply that only the owner can halt all work."""
    return CommandAnswer(
        gettext(
            "Only whoever runs me can stop all work. To stop what I am doing for you, write {word}.",
            word=INTERRUPT.typed,
        )
    )


async def not_halted(asked: Asked) -> CommandAnswer | None:
    """Reply to an owner that no halt is to be lifted; None for anybody else, whose words are a text like any other."""
    if asked.request.tenant.role is not PersonRole.OWNER:
        return None
    return CommandAnswer(gettext("Nothing is stopped: work goes on as usual."))
