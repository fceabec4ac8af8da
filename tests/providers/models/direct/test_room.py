"""What a streamed body keeps beside what the model writes has its room, too: no token ends it."""

from collections.abc import Callable, Iterable

import pytest

from core.json_types import JsonObject
from providers.models.direct.anthropic import AnthropicBody
from providers.models.direct.gemini import GeminiBody
from providers.models.direct.openai_chat import OpenAIBody
from providers.models.direct.types import StreamedBody
from tests.providers.models.direct.transcripts import GEMINI_USAGE, gemini_chunk, openai_call, openai_chunk

LONG = "x" * 100_000
EVENTS = 30
"""More than three times what there is room for."""


def add_all(body: StreamedBody, events: Iterable[JsonObject]) -> None:
    for event in events:
        body.add(event)


def claude_delta(delta: JsonObject) -> JsonObject:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def claude() -> AnthropicBody:
    body = AnthropicBody()
    body.add({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    return body


def openai_extra(number: int) -> JsonObject:
    call = openai_call(0, "{}", "add", "c1")
    call["tool_calls"][0]["provider_specific_fields"] = {str(number): LONG}  # type: ignore[index,call-overload]
    return openai_chunk(call)


KEPT: dict[str, tuple[Callable[[], StreamedBody], Callable[[int], JsonObject]]] = {
    "Claude's signature": (claude, lambda _: claude_delta({"type": "signature_delta", "signature": LONG})),
    "Claude's sources": (claude, lambda _: claude_delta({"type": "citations_delta", "citation": {"url": LONG}})),
    "Claude's blocks": (
        claude,
        lambda number: {"type": "content_block_start", "index": number, "content_block": {"type": "x", "data": LONG}},
    ),
    "Claude's message": (claude, lambda number: {"type": "message_start", "message": {str(number): LONG}}),
    "Claude's usage": (claude, lambda number: {"type": "message_delta", "delta": {}, "usage": {str(number): LONG}}),
    "Claude's end": (claude, lambda number: {"type": "message_delta", "delta": {str(number): LONG}}),
    "Gemini's fields": (GeminiBody, lambda number: gemini_chunk(**{str(number): LONG})),
    "Gemini's candidate": (GeminiBody, lambda number: {"candidates": [{str(number): LONG}]}),
    "Gemini's signed text": (GeminiBody, lambda _: gemini_chunk({"text": "", "thoughtSignature": LONG})),
    "Gemini's other parts": (GeminiBody, lambda _: gemini_chunk({"inlineData": {"data": LONG}})),
    "Gemini's empty parts": (GeminiBody, lambda _: gemini_chunk(*({} for _ in range(1_000)))),
    "fields of a call": (OpenAIBody, openai_extra),
    "names of calls": (OpenAIBody, lambda number: openai_chunk(openai_call(number, "", LONG, "c"))),
    "identifiers of calls": (OpenAIBody, lambda number: openai_chunk(openai_call(number, "", "a", f"{number}{LONG}"))),
}


@pytest.mark.parametrize(("begin", "event"), KEPT.values(), ids=KEPT)
def test_what_no_token_counts_ends_where_there_is_no_room_for_it(
    begin: Callable[[], StreamedBody], event: Callable[[int], JsonObject]
) -> None:
    with pytest.raises(ValueError, match="more fields"):
        add_all(begin(), map(event, range(EVENTS)))


def test_what_each_piece_tells_anew_takes_its_room_once() -> None:
    gemini, openai = GeminiBody(), OpenAIBody()
    for number in range(30_000):
        gemini.add(gemini_chunk({"text": "a"}, usageMetadata={**GEMINI_USAGE, "totalTokenCount": number}))
        openai.add(openai_chunk(openai_call(0, "a", "add", "c1")))
    assert (gemini.characters, openai.characters) == (30_000, 30_000)
