"""What a person points at with a message: one that it answers or quotes, or that it shares with words of their own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from core.json_types import Json, JsonObject

_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""What is shown of a kind's name: nothing that could pass for a sentence."""


class Whose(StrEnum):
    """Who wrote what a person points at."""

    OWN = "own"
    ASSISTANT = "assistant"
    OTHERS = "others"
    """Anybody else, or nobody knows: such words decide nothing and command nothing, as those that are forwarded."""
    UNREAD = "unread"
    """No words: something came with the message that cannot be read; `text` is what the provider calls it."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """Words that a message points at. `part` is what the person chose of them, `files` how many files they came with.

    The files themselves are among those of the message.
    """

    text: str
    whose: Whose
    part: str = ""
    files: int = 0

    def to_json(self) -> JsonObject:
        """Return the stored form."""
        return {"text": self.text, "whose": self.whose.value, "part": self.part, "files": self.files}

    @classmethod
    def from_json(cls, row: JsonObject) -> Self:
        """Return what `to_json` made a row of."""
        files = row.get("files")
        return cls(
            str(row["text"]), Whose(str(row["whose"])), str(row.get("part", "")), files if isinstance(files, int) else 0
        )


def unread(kind: str) -> Pointed:
    """Return what tells of something that came with a message and cannot be read."""
    return Pointed(kind.replace("_", " ") if _KIND.fullmatch(kind) else "something", Whose.UNREAD)


def pointed_of(rows: Json) -> tuple[Pointed, ...]:
    """Return what a stored message points at; a message of before such were stored has none."""
    return tuple(Pointed.from_json(row) for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()


def any_of_others(points: Iterable[Pointed]) -> bool:
    """Return whether any of these words may be somebody else's."""
    return any(point.whose is Whose.OTHERS for point in points)
