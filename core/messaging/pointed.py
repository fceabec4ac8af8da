"""Words that a person's message points at: those of a message that it answers, quotes or shares."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from core.json_types import JsonObject

_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""The shown part of a kind's name, which cannot pass for a sentence."""


class Whose(StrEnum):
    """The author of the words that a person points at."""

    OWN = "own"
    ASSISTANT = "assistant"
    OTHERS = "others"
    """Somebody else, or an unknown author: like forwarded words, these decide nothing and command nothing."""
    UNREAD = "unread"
    """No words: an attachment that cannot be read; `text` is the provider's name for it."""
    CHANGED = "changed"
    """The words that the person had sent before, and has changed to those of this message."""
    EDITED = "edited"
    """No words: the person changed the message before it was read."""
    GROUP = "group"
    """The name of the group in which the person wrote the message: others read it there."""


POWERLESS = (Whose.CHANGED, Whose.EDITED, Whose.GROUP)
"""The marks of a message that decides and answers nothing: it was edited, or written in a group."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """Words that a message points at. `part`: the passage that the person chose; `files`: the number of their files.

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
        """Parse the stored form."""
        files = row.get("files")
        return cls(
            str(row["text"]), Whose(str(row["whose"])), str(row.get("part", "")), files if isinstance(files, int) else 0
        )


EDITED = Pointed("", Whose.EDITED)
"""The mark of a message that was changed before it was read."""


def unread(kind: str) -> Pointed:
    """Return a note of an attachment that cannot be read."""
    return Pointed(kind.replace("_", " ") if _KIND.fullmatch(kind) else "something", Whose.UNREAD)
