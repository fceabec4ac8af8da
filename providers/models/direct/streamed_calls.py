"""Tool calls in the pieces of a streamed chat completion, put together as the servers mean them.

OpenAI numbers the calls, names a call in its first piece, and continues it under its number. Servers that follow it
leave numbers out, give all calls the same number or each piece another, repeat ids or invent new ids, send arguments as
an object, or all so far again. So a piece is matched by its number, then by its id, then by the open call: a piece with
a name begins another call if the previous call is complete, and a piece without a name continues a call.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from core.json_types import JsonObject, storable
from core.llm.types import ToolCall
from providers.models.direct.types import Room

MOST_CALLS = 1_000
"""Calls of an answer: OpenAI takes 128 tools."""
_MOST_NUMBER = 1_000_000
"""The greatest plausible number of a call: some servers count pieces instead."""
_NOTHING = ("", "null", "None")


@dataclass(slots=True)
class _Call:
    id: str | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: JsonObject = field(default_factory=dict)
    _seen: int = 0
    _depth: int = 0
    _opened: bool = False
    _quoted: bool = False
    _escaped: bool = False

    @property
    def begun(self) -> bool:
        """Return whether any arguments came."""
        return bool(self.pieces)

    @property
    def closed(self) -> bool:
        """Return whether the arguments are whole as far as brackets tell. Each piece is looked at once."""
        for piece in self.pieces[self._seen :]:
            for letter in piece:
                self._pass(letter)
        self._seen = len(self.pieces)
        return self._opened and not self._quoted and self._depth <= 0

    @property
    def open(self) -> bool:
        return self.begun and not self.closed

    def _pass(self, letter: str) -> None:
        if self._escaped:
            self._escaped = False
        elif self._quoted:
            self._escaped, self._quoted = letter == "\\", letter != '"'
        elif letter == '"':
            self._quoted = True
        elif letter in "{[":
            self._opened, self._depth = True, self._depth + 1
        elif letter in "}]":
            self._depth -= 1


@dataclass(frozen=True, slots=True)
class _Piece:
    number: int | None
    id: str
    name: str
    arguments: str


@dataclass(slots=True)
class StreamedCalls:
    """The calls of an answer so far. `characters` are those of their arguments."""

    characters: int = 0
    pieces: int = 0
    _calls: list[_Call] = field(default_factory=list)
    _by_number: dict[int, _Call] = field(default_factory=dict)
    _by_id: dict[str, _Call] = field(default_factory=dict)
    _room: Room = field(default_factory=Room)

    def add(self, told: object) -> None:
        """Add an event's data about calls. Raises `ValueError` for impossible data."""
        pieces = told if isinstance(told, list) else [told]
        pieces = [piece for piece in pieces if piece is not None]
        if not all(isinstance(piece, dict) for piece in pieces):
            raise ValueError("no call")
        for position, piece in enumerate(pieces):
            self._take(piece, position, len(pieces))

    def calls(self, answer_id: str) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which they began; a call without an id, or with another's, gets its own."""
        out: list[ToolCall] = []
        for index, call in enumerate(call for call in self._calls if call.name or call.pieces):
            taken = any(call.id == other.id for other in out)
            name = call.id if call.id and not taken else f"{answer_id or 'call'}_{index}"
            out.append(ToolCall(name, storable(call.name), storable(_arguments(call.pieces)), call.extra))
        return tuple(out)

    def _take(self, told: dict[str, Any], position: int, of: int) -> None:
        function = told.get("function") or {}
        self.pieces += position > 0
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        piece = _Piece(
            _number(told.get("index")), str(told.get("id") or ""), str(function.get("name") or ""), arguments or ""
        )
        call = self._match(piece, position, of) or self._begin()
        if piece.number is not None:
            self._by_number[piece.number] = call
        if piece.id and self._by_id.get(piece.id) is not call:
            self._by_id[self._room.keep(piece.id)] = call
            call.id = call.id or piece.id
        if piece.name and piece.name != call.name:
            call.name = self._room.keep(_joined_name(call, piece.name), call.name)
        if piece.arguments:
            call.pieces.append(piece.arguments)
            self.characters += len(piece.arguments)
        extra = told.get("provider_specific_fields") or function.get("provider_specific_fields")
        if isinstance(extra, dict):
            self._room.update(call.extra, extra)

    def _match(self, piece: _Piece, position: int, of: int) -> _Call | None:
        """Return the call that a piece continues; None if it begins a call."""
        numbered = None if piece.number is None else self._by_number.get(piece.number)
        if numbered:
            return None if _is_another(numbered, piece) else numbered
        known = self._by_id.get(piece.id) if piece.id else None
        last = self._calls[-1] if self._calls else None
        if known and not piece.name:
            return known
        if known and piece.number is None:
            return None if _is_another(known, piece) else known
        if last is None:
            return None
        if piece.name:
            return last if _goes_on(last, piece) else None
        if piece.id:
            goes_on = not last.closed and (piece.arguments or not last.id)
            return last if goes_on else None
        if of > 1 and piece.number is None and of <= len(self._calls):
            return self._calls[position - of]
        if not (last.closed and piece.arguments):
            return last
        still = next((call for call in reversed(self._calls) if not call.closed), None)
        return still or (last if piece.number is None else None)

    def _begin(self) -> _Call:
        if len(self._calls) >= MOST_CALLS:
            raise ValueError("more calls than an answer has")
        self._calls.append(_Call())
        return self._calls[-1]


def _is_another(call: _Call, piece: _Piece) -> bool:
    """Return whether a piece begins another call although it has the number or the id of this call."""
    other = bool(piece.id and call.id and piece.id != call.id)
    begins = piece.arguments.lstrip().startswith("{")
    if not piece.name:
        return other and call.closed and begins
    if not call.name:
        return False
    if other:  # a server that makes up an id for each piece repeats the name, too
        return piece.name != call.name or not (call.open or (not call.begun and _is_part(piece.arguments)))
    if call.closed:
        return piece.name != call.name or (begins and piece.arguments != call.pieces[-1])
    joined = piece.name.startswith(call.name) or not _object(piece.arguments)
    return not call.begun and not joined


def _goes_on(call: _Call, piece: _Piece) -> bool:
    """Return whether a piece with a name continues the last call although neither number nor id says so."""
    other = bool(piece.id and piece.id != call.id)
    if piece.number is not None and other:
        return False
    if not call.name:
        return piece.number is None and not (other and call.id)
    return piece.name == call.name and (call.open or (not call.begun and _is_part(piece.arguments)))


def _is_part(arguments: str) -> bool:
    return bool(arguments) and _object(arguments) is None


def _joined_name(call: _Call, name: str) -> str:
    """Return a name that came in parts, or again as it is by now."""
    return name if call.begun or name.startswith(call.name) else call.name + name


def _arguments(pieces: list[str]) -> str:
    """Return the arguments in pieces: each the next part, or all so far again, or text within a text."""
    joined = "".join(pieces)
    if joined.strip() in _NOTHING:
        return "{}"
    if _object(joined) is not None:
        return joined
    inner = _value(joined)
    if isinstance(inner, str) and _object(inner) is not None:
        return inner
    last, rest = pieces[-1], "".join(pieces[1:])
    if pieces[0].strip() == "{}" and _object(rest) is not None:
        return rest
    again = all(last.startswith(piece) for piece in pieces) or joined == last * 2
    return last if again and _object(last) is not None else joined


def _object(text: str) -> JsonObject | None:
    value = _value(text)
    return value if isinstance(value, dict) else None


def _value(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _number(told: object) -> int | None:
    if told is None:
        return None
    if type(told) is not int or not 0 <= told <= _MOST_NUMBER:
        raise ValueError("a call by a number that no answer has")
    return told
