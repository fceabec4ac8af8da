"""Memories in a conversation: a statement that is in it is not recalled again.

Only the very statement counts: "Do I live in Oslo?" does not show that the person lives there.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from abilities.memory.extraction.speech import spoken_of
from abilities.memory.extraction.statements import statements
from abilities.memory.extraction.words import words_of
from abilities.memory.types import Recalled
from core.llm.types import ChatMessage

_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def not_shown(recalled: Iterable[Recalled], messages: Sequence[ChatMessage]) -> list[Recalled]:
    """Return the memories that are not in the messages already. Ended memories stay: the messages do not say so."""
    said = [" ".join(words_of(message.text)) for message in messages]

    def shows(recalled: Recalled) -> bool:
        words = words_of(recalled.memory.text)
        plain = " ".join(words)
        near = (message for message, text in zip(messages, said, strict=True) if plain in text)
        return any(words in _stated(message) for message in near)

    return [each for each in recalled if each.memory.valid_to is not None or not shows(each)]


def _stated(message: ChatMessage) -> list[list[str]]:
    """Return the words of each statement of a message, split as memory splits its own statements."""
    texts = [said.text for said in spoken_of("", message, _ANY_TIME)]
    return [words_of(piece) for text in texts for whole in (False, True) for piece in statements(text, whole=whole)]
