"""A chat word that a test plants: all that a new one takes."""

from core.messaging.chat_words import Channels, ChatCommand, CommandAnswer
from core.turns.words.asked import Asked

TALLY = ChatCommand(
    name="tally",
    words={"en": ("tally",), "de": ("strichliste",)},
    argument=" (of [a-z]+)",
    help="what I counted for you",
    channels=Channels(alone=frozenset({"sms", "email"})),
    answer="tests.core.messaging.planted_words:count",
)
WORDS = (TALLY,)


async def count(asked: Asked) -> CommandAnswer | None:
    """Answer."""
    return CommandAnswer(f"Counted three {asked.command.argument}".strip())
