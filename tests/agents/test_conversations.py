"""The tool that finds what was said."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from agents.conversations import search_messages
from core.messaging.search import SaidMessage
from onevalet import ToolRetry
from onevalet.testing import make_context


class _Conversations:
    def __init__(self, *found: SaidMessage) -> None:
        self.found = found
        self.asked: list[str] = []

    async def search(self, words: str, limit: int = 10) -> Sequence[SaidMessage]:
        self.asked.append(words)
        return self.found[:limit]


async def test_what_was_said_is_told_with_who_and_when() -> None:
    at = datetime(2026, 11, 3, 14, 2, tzinfo=UTC)
    conversations = _Conversations(
        SaidMessage("o1", "c1", "sms", False, at, "The plumber mends the boiler."),
        SaidMessage("m1", "c1", "sms", True, at, "The boiler leaks."),
        SaidMessage("o2", "c2", "sms", False, at, "Is the boiler yours?", recipient="Sam https://evil.example"),
    )
    told = str(await search_messages("boiler", make_context(conversations=conversations, timezone="Europe/Berlin")))
    assert conversations.asked == ["boiler"]
    assert "15:02, I wrote to Sam (link): Is the boiler yours?" in told
    assert "15:02, I wrote: The plumber mends the boiler." in told
    assert "15:02, you wrote: The boiler leaks." in told


async def test_nothing_found_says_so() -> None:
    told = str(await search_messages("boiler", make_context(conversations=_Conversations())))
    assert "No message has these words." in told


@pytest.mark.parametrize("words", [" ", "x" * 201])
async def test_words_are_one_to_two_hundred_characters(words: str) -> None:
    with pytest.raises(ToolRetry):
        await search_messages(words, make_context(conversations=_Conversations()))
