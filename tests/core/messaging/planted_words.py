"""A chat word of an ability that a test plants: all that a new one takes."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.messaging.chat_words import Channels, ChatCommand, CommandAnswer
from core.turns.words.asked import Asked
from onevalet.ability import Ability
from onevalet.ability_registry import all_abilities
from onevalet.wiring import abilities

TALLY = ChatCommand(
    name="tally",
    words={"en": ("tally",), "de": ("strichliste",)},
    argument=" (of [a-z]+)",
    help="what I counted for you",
    channels=Channels(alone=frozenset({"sms", "email"})),
    answer="tests.core.messaging.planted_words:count",
)


@contextmanager
def planted(*words: ChatCommand) -> Iterator[None]:
    """Have one more ability, which declares these words, for the length of the block."""
    there = all_abilities()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(abilities, "all_abilities", lambda: (*there, Ability(name="tally", words=words)))
        try:
            abilities.use_abilities()
            yield
        finally:
            patch.undo()
            abilities.use_abilities()


async def count(asked: Asked) -> CommandAnswer | None:
    """Answer."""
    return CommandAnswer(f"Counted three {asked.command.argument}".strip())
