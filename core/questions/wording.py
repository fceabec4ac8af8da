"""Questions in words: as a list with the keys to type, and as the card of a question. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.messaging.messages import OutboundKind, OutboundMessage
from core.messaging.visible_text import literal, plain_words
from core.questions.buttons import actions
from core.questions.types import Asked, AskedOf

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NUMBER = re.compile(r"(?<!\w)[0-9]{1,3}(?!\w)")
_BLOCK = re.compile(r"[#>+=|-]|\d+(?=[.)])")
"""Marks that Markdown takes for the beginning of a heading, a list or a quotation."""


@dataclass(frozen=True, slots=True)
class QuestionCard:
    """A question's message with its buttons, to be committed with the turn that asks."""

    message: OutboundMessage
    of: AskedOf
    id: str

    def to_json(self) -> JsonObject:
        """Return the outbound row, and the question that it shows."""
        asked = self.of.asked
        choices = [{"label": label, "value": value} for label, value in zip(asked.labels, asked.values, strict=True)]
        question: JsonObject = {
            "id": self.id,
            "agent": self.of.agent_id,
            "name": asked.name,
            "choices": [*choices],
            "skip": asked.skip,
            "token": self.of.token,
        }
        message = self.message
        return {
            "id": message.id,
            "kind": message.kind.value,
            "text": message.text,
            "closing": message.closing,
            "actions": [{"label": action.label, "token": action.token} for action in message.actions],
            "question": question,
        }


def with_keys(asks: Sequence[Asked], taken: int = 0) -> tuple[Asked, ...]:
    """Return the questions with a key for each choice: numbers that go on over all of them, after those `taken`.

    They are letters if a number may be an answer in words: a "2" must not have two meanings.
    """
    count = sum(map(_length, asks))
    digits = any(asked.free or any(map(_NUMBER.search, asked.labels)) for asked in asks if asked.labels)
    letters = digits and taken + count <= len(_LETTERS)
    keyed, at = list[Asked](), taken
    for asked in asks:
        end = at + _length(asked)
        keys = tuple(_LETTERS[place] if letters else str(place + 1) for place in range(at, end))
        keyed.append(replace(asked, keys=keys))
        at = end
    return tuple(keyed)


def last_key(asks: Sequence[Asked]) -> int:
    """Return the position of the last key of these questions; 0 if they have no keys."""
    places = (_LETTERS.index(key) + 1 if key in _LETTERS else int(key) for asked in asks for key in asked.keys)
    return max(places, default=0)


def _length(asked: Asked) -> int:
    """Return the number of choices; 0 for a free-text question, whose answer may be a number."""
    return len(asked.labels) + asked.skip if asked.labels else 0


def in_words(asks: Sequence[Asked]) -> str:
    """Return questions as Markdown, each with its choices below it, and with the way to answer."""
    return "\n".join(filter(None, [*(_listed(asked) for asked in asks), _hint(asks)]))


def card(of: AskedOf, question_id: str, outbound_id: str) -> QuestionCard:
    """Return the message of a question. Its closing says the choices in words if buttons do not."""
    asked = of.asked
    closing = "\n".join(filter(None, [_choices(asked), _hint([asked])]))
    text = f"{line(asked.text)}\n{closing}"
    message = OutboundMessage(outbound_id, OutboundKind.REPLY, text, actions=actions(asked, of.token), closing=closing)
    return QuestionCard(message, of, question_id)


def line(text: str) -> str:
    """Return a text as a line of Markdown that reads as the text itself."""
    words = literal(plain_words(text))
    start = _BLOCK.match(words)
    if start is None:
        return words
    return f"{start[0]}\\{words[start.end() :]}" if start[0].isdigit() else f"\\{words}"


def _listed(asked: Asked) -> str:
    return "\n".join(filter(None, [line(asked.text), _choices(asked)]))


def _choices(asked: Asked) -> str:
    if not asked.keys:
        return ""
    labels = [*map(plain_words, asked.labels), *([gettext("(skip this)")] if asked.skip else [])]
    return "\n".join(f"{key}: {literal(label)}" for key, label in zip(asked.keys, labels, strict=True))


def _hint(asks: Sequence[Asked]) -> str:
    """Return the hint on answering, with an example; empty if there is nothing to choose."""
    example = " ".join(asked.keys[0] for asked in asks if asked.keys)
    if not example:
        return gettext("Reply “{word}” to leave it out.", word=gettext("skip")) if any(a.skip for a in asks) else ""
    own = any(asked.free for asked in asks)
    if sum(bool(asked.keys) for asked in asks) == 1:
        if own:
            return gettext("Reply with one of these, such as {example}, or in your own words.", example=example)
        return gettext("Reply with one of these, such as {example}.", example=example)
    if own:
        return gettext("Reply with one for each, such as {example}, or in your own words.", example=example)
    return gettext("Reply with one for each, such as {example}.", example=example)
