"""Reading a streamed answer: the provider's events, the text that they add, and the limit of the answer's length.

A stream consists of server-sent events, in the format of the HTML standard: lines `data: …`, of which a blank line ends
an event. A provider may have written far ahead: reading all of that would block the event loop, and with it all other
turns. So other tasks run in between, and an answer far beyond the requested length is cut.

An answer that is not streamed has the same limit: `bounded` cuts it at the end of an equal stream.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from itertools import batched

import aiohttp

from core.http.peer import TURN_BYTES, TURN_PIECES, Allowance, Hearing
from core.http.provider_session import Unpacker, UnreadableBody
from core.json_types import JsonObject, check_depth, is_finite, storable
from core.llm.types import ModelAnswer, TokenUsage, ToolCall
from providers.models.direct.types import StreamedBody

CUT = "length"
"""The `finish_reason` of an answer that reached its maximum length."""
USUAL_TOKENS = 32_768
"""Tokens that are read of an answer without a requested length."""
ALLOWANCE = Allowance(size=128 * 1024 * 1024, pieces=1_000_000, seconds=1800.0)
"""The limit of an answer's stream: an answer of 100,000 tokens is a fifth of it, with an event for each."""
_MOST_TOKENS, _MOST_COST = 1_000_000_000, 100_000.0
"""Tokens and dollars of a call that are believed: a hundred times those of any."""
_CHARACTERS_A_TOKEN = 8
"""Latin script has four or five: more characters were not written with the requested tokens."""
_SPARE_PIECES = 100
"""Pieces in addition to a piece for each token: those that begin and end an answer have none."""
_DECODER = json.JSONDecoder()

MAX_LINE = 1024 * 1024
"""Bytes of a line, or of an event's lines: no event is longer than a whole answer may be."""
DONE = "[DONE]"
"""The data by which OpenAI and those who follow it end a stream."""


class EventReader:
    """Cuts a stream into events; a line may come in any number of parts."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []
        self._room = MAX_LINE

    def feed(self, received: bytes) -> list[str]:
        """Return the data of the events that are complete by now.

        Raises `ValueError` for an endless line or event, and for bytes that are not UTF-8.
        """
        end = received.rfind(b"\n")
        if end >= 0:
            received, rest = bytes(self._rest) + received[:end] if self._rest else received[:end], received[end + 1 :]
            self._rest = bytearray(rest)
        else:
            self._rest += received
        if len(self._rest) > MAX_LINE:
            raise ValueError("a line without end")
        if end < 0:
            return []
        events, data = list[str](), self._data
        for line in received.decode().split("\n"):
            if line.startswith("data:"):
                data.append(line[5:].strip())
                self._room -= len(line)
                if self._room < 0:
                    raise ValueError("an event without end")
            elif data and (not line or line == "\r"):
                events.append(data[0] if len(data) == 1 else "\n".join(data))
                data.clear()
                self._room = MAX_LINE
        return events

    def end(self) -> list[str]:
        """Return the data of an event that no blank line ended before the stream did."""
        return self.feed(b"\n\n")


_TOLD_EVERY = 0.05
"""Seconds for which text is gathered before it is passed on: people read no faster, and each piece costs all tasks."""
_IN_A_ROW = 0.005
"""Seconds of reading after which others have their turn."""
_LAST_BYTES = 0.2
"""Seconds for the end of a stream whose answer is whole; without it, its connection cannot be used again."""
_CHECKED_EVERY = 16
"""Events of a read after which the answer's length is looked at."""


async def texts_of(response: aiohttp.ClientResponse, body: StreamedBody, max_tokens: int | None) -> AsyncGenerator[str]:
    """Read a stream into `body` until it ends or is too long; yield its text, gathered for a moment.

    An empty text means that the model is alive and does something else, which is worth knowing, too.
    """
    loop, content = asyncio.get_running_loop(), _Heard(response)
    events, waiting = EventReader(), list[str]()
    told = resumed = loop.time()
    while not body.ended:
        limit = asyncio.timeout(told + _TOLD_EVERY - loop.time() if waiting else None)
        try:
            async with limit:
                received = await content.some()
        except TimeoutError:
            if not limit.expired():  # the connection's own
                raise
            received = None
        if received is not None:
            found = events.feed(received) if received else events.end()
            await content.read(len(received))
            for some in batched(found, TURN_PIECES):
                _add(some, body, waiting, max_tokens)
                await content.read(events=len(some))
                if body.ended or is_too_long(body.characters, body.pieces, max_tokens):
                    break
            if not received or is_too_long(body.characters, body.pieces, max_tokens):
                break
        now = loop.time()
        if waiting and now - told >= _TOLD_EVERY:
            yield storable("".join(waiting))
            waiting.clear()
            told = loop.time()
        elif now - resumed > _IN_A_ROW:
            await asyncio.sleep(0)
        resumed = now if now - resumed > _IN_A_ROW else resumed
    if waiting:
        yield storable("".join(waiting))
    if body.ended:
        await content.end()


def _add(found: Sequence[str], body: StreamedBody, waiting: list[str], max_tokens: int | None) -> None:
    """Add events to the body and queue their text."""
    add, told = body.add, waiting.append
    for number, data in enumerate(found):
        if data == DONE:
            body.ended = True
            return
        told(add(read_object(data)))
        if not number % _CHECKED_EVERY and is_too_long(body.characters, body.pieces, max_tokens):
            return


class _Heard:
    """The unpacked bytes of a stream, within the limits of a streamed answer."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content
        self._unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
        self._hearing = Hearing(ALLOWANCE)

    async def some(self) -> bytes:
        """Return the next bytes; none at the end. May be cancelled, and asked again. Raises `PeerExceeded`."""
        while not (content := self._unpacker.take(TURN_BYTES)):
            received = await self._content.readany()
            if not received:
                if not self._unpacker.whole:
                    raise UnreadableBody("it ended early")
                return b""
            self._hearing.count(pieces=1)
            self._unpacker.feed(received)
        return content

    async def read(self, size: int = 0, events: int = 0) -> None:
        """Count the bytes read, and let other tasks run if they are many. Raises `PeerExceeded`."""
        await self._hearing.heard(size, events)

    async def end(self) -> None:
        """Read the end of the stream, for a moment, and ignore errors."""
        if self._content.at_eof():
            return
        try:
            async with asyncio.timeout(_LAST_BYTES):
                await self._content.readany()
        except (TimeoutError, aiohttp.ClientError):
            return


def read_object(text: str) -> JsonObject:
    """Read a JSON object. Raises `ValueError` for anything else."""
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if text[end:].strip():
        raise ValueError("more than one value")
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


def is_too_long(characters: int, pieces: int, max_tokens: int | None) -> bool:
    """Return whether a stream is already longer than an answer of `tokens` tokens can be."""
    return characters > max_characters(max_tokens) or pieces > (max_tokens or USUAL_TOKENS) + _SPARE_PIECES


def max_characters(max_tokens: int | None) -> int:
    """Return the maximum number of characters of an answer with this number of tokens."""
    return (max_tokens or USUAL_TOKENS) * _CHARACTERS_A_TOKEN


def bounded(answer: ModelAnswer, max_tokens: int | None) -> ModelAnswer:
    """Return an answer cut at its maximum length; its `finish_reason` then says so.

    Thoughts that are too long are left out, since a part of them is of no use. Arguments are cut like text, and cannot
    be parsed then, like those of a stream that was cut. Raises `ValueError` for usage that no call has, and for
    thoughts and fields of calls that cannot be stored.
    """
    check_usage(answer.usage)
    answer = replace(
        answer,
        thinking=tuple(map(_kept, answer.thinking)),
        tool_calls=tuple(replace(call, extra=_kept(call.extra)) if call.extra else call for call in answer.tool_calls),
    )
    thoughts = sum(len(json.dumps(thought)) for thought in answer.thinking)
    written = (answer.text, *(call.arguments for call in answer.tool_calls))
    room = max_characters(max_tokens)
    if thoughts + sum(map(len, written)) <= room:
        return answer
    thinking = answer.thinking if thoughts <= room else ()
    room = max(room - thoughts, 0)
    text = answer.text[:room]
    calls = list[ToolCall]()
    for call in answer.tool_calls:
        room -= len(calls[-1].arguments if calls else text)
        calls.append(replace(call, arguments=call.arguments[:room]))
    return replace(answer, text=text, tool_calls=tuple(calls), thinking=thinking, finish_reason=CUT)


def check_usage(usage: TokenUsage) -> None:
    """Raise `ValueError` for impossible counts and prices: they are added up, and bound the spending."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    if any(type(count) is not int or not 0 <= count <= _MOST_TOKENS for count in counts):
        raise ValueError("a number of tokens that no call has")
    if usage.cost is not None and not 0 <= usage.cost <= _MOST_COST:
        raise ValueError("a price that no call has")


def _kept(value: JsonObject) -> JsonObject:
    """Return a provider's own fields as they are stored. Raises `ValueError` for those that cannot be."""
    check_depth(value)
    if not is_finite(value):
        raise ValueError("a number that is none")
    return storable(value)
