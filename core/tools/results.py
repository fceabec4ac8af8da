"""The results of calls of tools."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from core import replies
from core.journal.types import Outcome
from core.json_types import Json, JsonObject, read_json
from core.language.catalogue import gettext
from core.llm.types import ChatMessage, Marker, Role, TokenUsage, ToolCall
from core.tools.result_entities import Entity
from core.tools.undo import UndoOffer, note_offers

_MAX_SHOWN = 300


class TextWithData(str):
    """A tool's or an agent's text for the model, with the same as JSON in `data`, which a watch's path looks into."""

    data: dict[str, Any]

    def __new__(cls, text: str, data: dict[str, Any]) -> "TextWithData":
        made = super().__new__(cls, text)
        made.data = data
        return made


class ToolEnd(NamedTuple):
    """The end of a tool's run: `text` is for the model, `told` for the person if the call was handed over.

    `files` are the ids of the files that it sends with the reply, `undo` are the offers to take it back.
    """

    text: str
    outcome: Outcome = Outcome.OK
    told: str | None = None
    files: tuple[str, ...] = ()
    undo: tuple[UndoOffer, ...] = ()

    def kept(self) -> JsonObject:
        """Return the journal's fields of it besides the text and the files."""
        result: JsonObject = {"told": self.told} if self.told else {}
        if self.outcome is Outcome.OK:
            note_offers(self.undo, result)
        return result


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call. `text` is for the model, `chars` its length before truncation.

    `entities` are the things in it. `told` is for the person, if a waiting turn goes on with the call.
    """

    call: ToolCall
    text: str
    outcome: Outcome = Outcome.OK
    chars: int = 0
    duration_ms: int = 0
    entities: tuple[Entity, ...] = ()
    told: str | None = None

    @property
    def in_words(self) -> str:
        """Return it as the person reads it; the model's text about a call that did not run is no sentence."""
        if self.told or self.outcome is Outcome.OK:
            return replies.without_notes(self.told or self.text)
        return gettext(replies.NOT_DONE)

    def message(self, *, outside: bool) -> ChatMessage:
        """Return it as the model reads it; `outside`: the tool's results were written by others."""
        return ChatMessage(
            Role.TOOL,
            self.text,
            tool_call_id=self.call.id,
            name=self.call.name,
            outside=outside and self.outcome is Outcome.OK,
            marker=Marker.HANDED_OVER if self.outcome is Outcome.HANDED_OVER else None,
        )

    def arguments_summary(self) -> JsonObject:
        """Return the arguments with long values cut, for debugging."""
        try:
            value = read_json(self.call.arguments or "{}")
        except ValueError:
            value = self.call.arguments
        given = value if isinstance(value, dict) else {"arguments": value}
        return {name: _short(argument) for name, argument in given.items()}


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """A call of a tool or an agent-tool.

    `args_summary` is cut for debugging; `result_status` an agent's status; `result_chars` the length before
    truncation; `token_attribution` the usage of the model answer that asked for it.
    """

    name: str
    args_summary: JsonObject
    duration_ms: int
    success: bool
    result_status: str | None = None
    result_chars: int = 0
    token_attribution: TokenUsage | None = None


def _short(value: Json) -> Json:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
