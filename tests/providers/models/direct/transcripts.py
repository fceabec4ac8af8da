"""Answers of each family of providers, in the formats that they publish.

OpenAI: platform.openai.com/docs/api-reference/chat-streaming; Groq, Mistral, DeepSeek, OpenRouter and vLLM: their pages
on chat completions. Anthropic: docs.anthropic.com, "Streaming messages" and "Errors". Gemini: ai.google.dev/api,
"streamGenerateContent" and "Troubleshooting".
"""

import json
from collections.abc import Mapping, Sequence

from core.json_types import Json, JsonObject
from tests.providers.models.direct.replay import Transcript

ADD = '{"a": 1, "b": 2}'


def sse(*events: Json, named: bool = False, done: bool = True, **kept: float | bool) -> Transcript:
    """Return a stream of events; `named` as Anthropic names them, `done` with OpenAI's end."""
    pieces = []
    for event in events:
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        pieces.append(f"{name}data: {json.dumps(event)}\n\n".encode())
    if done and not named:
        pieces.append(b"data: [DONE]\n\n")
    return Transcript(pieces, **kept)  # type: ignore[arg-type]


def whole(body: JsonObject, status: int = 200, **headers: str) -> Transcript:
    """Return an answer that is one JSON document."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Transcript([json.dumps(body).encode()], status, "application/json", told)


def openai_chunk(delta: JsonObject, finish: str | None = None, **more: Json) -> JsonObject:
    """Return a chunk of a chat completion."""
    choice: JsonObject = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**_openai("chat.completion.chunk"), "choices": [choice], **more}


def openai_usage(**more: Json) -> JsonObject:
    """Return the chunk that ends a stream with `include_usage`."""
    return {**_openai("chat.completion.chunk"), "choices": [], "usage": {**USAGE, **more}}


def openai_whole(message: JsonObject, finish: str, **more: Json) -> JsonObject:
    """Return a chat completion that is not streamed."""
    choice: JsonObject = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**_openai("chat.completion"), "choices": [choice], "usage": USAGE, **more}


def openai_error(message: str, kind: str, code: Json = None) -> JsonObject:
    """Return the body of a refusal."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def openai_call(index: int, arguments: str, name: str = "", call_id: str = "") -> JsonObject:
    """Return a piece of a tool call."""
    call: JsonObject = {"index": index, "function": {"arguments": arguments}}
    if name:
        call |= {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [call]}


def _openai(kind: str) -> JsonObject:
    return {"id": "chatcmpl-9x", "object": kind, "created": 1763800000, "model": "served-1", "system_fingerprint": "fp"}


USAGE: JsonObject = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
_ROLE: JsonObject = {"role": "assistant", "content": ""}
_HELLO = [openai_chunk({"content": piece}) for piece in ("Hel", "lo, wörld", "\n", "bye 👋")]
_ONE_CALL = [
    openai_chunk(openai_call(0, "", "add", "call_one")),
    openai_chunk(openai_call(0, '{"a": 1, ')),
    openai_chunk(openai_call(0, '"b": 2}')),
]
_CALLS: list[JsonObject] = [
    {"id": "call_one", "type": "function", "function": {"name": "add", "arguments": ADD}},
    {"id": "call_two", "type": "function", "function": {"name": "add", "arguments": '{"a": 3}'}},
]
OPENAI_STREAMED: Mapping[str, Transcript] = {
    "text": sse(openai_chunk(_ROLE), *_HELLO, openai_chunk({}, "stop"), openai_usage()),
    "one call": sse(
        openai_chunk({"role": "assistant", "content": None}), *_ONE_CALL, openai_chunk({}, "tool_calls"), openai_usage()
    ),
    "text and two calls": sse(
        openai_chunk(_ROLE),
        openai_chunk({"content": "Let me see"}),
        *_ONE_CALL,
        openai_chunk(openai_call(1, "", "add", "call_two")),
        openai_chunk(openai_call(1, '{"a": 3}')),
        openai_chunk({}, "tool_calls"),
        openai_usage(),
    ),
    "a call without arguments": sse(
        openai_chunk(openai_call(0, "", "add", "call_one")), openai_chunk({}, "tool_calls"), openai_usage()
    ),
    "a call that ends with stop": sse(openai_chunk(_ROLE), *_ONE_CALL, openai_chunk({}, "stop"), openai_usage()),
    "cut at its length": sse(openai_chunk(_ROLE), *_HELLO, openai_chunk({}, "length"), openai_usage()),
    "content filter": sse(openai_chunk(_ROLE), *_HELLO[:1], openai_chunk({}, "content_filter"), openai_usage()),
    "refusal": sse(
        openai_chunk({"role": "assistant", "content": None, "refusal": ""}),
        openai_chunk({"refusal": "I cannot help with that."}),
        openai_chunk({}, "stop"),
        openai_usage(),
    ),
    "reasoning": sse(
        openai_chunk({"role": "assistant", "content": None, "reasoning_content": "Add "}),
        openai_chunk({"content": None, "reasoning_content": "them."}),
        *_HELLO,
        openai_chunk({}, "stop"),
        openai_usage(completion_tokens_details={"reasoning_tokens": 11}),
    ),
    "no usage": sse(openai_chunk(_ROLE), *_HELLO, openai_chunk({}, "stop")),
    "usage beside the end": sse(openai_chunk(_ROLE), *_HELLO, openai_chunk({}, "stop", usage=USAGE)),
    "cached price": sse(
        openai_chunk(_ROLE), *_HELLO, openai_chunk({}, "stop"), openai_usage(prompt_tokens=5000, total_tokens=5030)
    ),
    "cut off": sse(openai_chunk(_ROLE), *_HELLO, done=False, cut=True),
    "ends without a word": sse(openai_chunk(_ROLE), *_HELLO, done=False),
    "error in the middle": sse(
        openai_chunk(_ROLE), *_HELLO[:1], openai_error("The server had an error", "server_error"), done=False
    ),
    "nothing": sse(done=False),
    "no JSON": Transcript([b'data: {"id": \n\n']),
    "not streamed": whole(openai_whole({"content": "Hello, wörld"}, "stop")),
}
OPENAI_WHOLE: Mapping[str, Transcript] = {
    "text": whole(openai_whole({"content": "Hello, wörld"}, "stop")),
    "two calls": whole(openai_whole({"content": None, "tool_calls": list(_CALLS)}, "tool_calls")),
    "text and a call": whole(openai_whole({"content": "See", "tool_calls": list(_CALLS[:1])}, "tool_calls")),
    "refusal": whole(openai_whole({"content": None, "refusal": "I cannot."}, "stop")),
    "content filter": whole(openai_whole({"content": "So"}, "content_filter")),
    "reasoning": whole(openai_whole({"content": "So", "reasoning_content": "Add them."}, "stop")),
    "cut at its length": whole(openai_whole({"content": "So"}, "length")),
    "no choices": whole({"id": "x", "object": "chat.completion", "choices": []}),
    "a page": Transcript([b"<html>gateway</html>"], content_type="text/html"),
}
OPENAI_REFUSED: Mapping[str, Transcript] = {
    "bad key": whole(openai_error("Incorrect API key provided", "invalid_request_error", "invalid_api_key"), 401),
    "not allowed": whole(openai_error("Country not supported", "request_forbidden", "unsupported"), 403),
    "no such model": whole(openai_error("The model does not exist", "invalid_request_error", "model_not_found"), 404),
    "limited": whole(openai_error("Rate limit reached", "requests", "rate_limit_exceeded"), 429, retry_after="7"),
    "limited in ms": whole(
        openai_error("Rate limit reached", "tokens", "rate_limit_exceeded"), 429, retry_after_ms="250"
    ),
    "limited without a time": whole(openai_error("Rate limit reached", "requests", "rate_limit_exceeded"), 429),
    "account used up": whole(
        openai_error("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), 429
    ),
    "too long": whole(
        openai_error(
            "This model's maximum context length is 8192 tokens.", "invalid_request_error", "context_length_exceeded"
        ),
        400,
    ),
    "bad request": whole(openai_error("Invalid value for temperature", "invalid_request_error"), 400),
    "unprocessable": whole(openai_error("Invalid", "invalid_request_error"), 422),
    "too large": whole(openai_error("Request too large", "invalid_request_error"), 413),
    "server error": whole(openai_error("The server had an error", "server_error"), 500),
    "overloaded": whole(openai_error("The engine is overloaded", "server_error"), 503, retry_after="3"),
    "a gateway's page": Transcript([b"<html>Bad gateway</html>"], 502, "text/html"),
    "gateway timeout": Transcript([b""], 504, "text/html"),
    "request timeout": whole(openai_error("Timed out", "server_error"), 408),
}
OF_PROVIDERS: Mapping[str, Mapping[str, Transcript]] = {
    "groq": {
        "reasoning": sse(
            openai_chunk({"role": "assistant", "content": ""}, x_groq={"id": "req_1"}),
            openai_chunk({"reasoning": "Add "}),
            openai_chunk({"reasoning": "them."}),
            *_HELLO,
            openai_chunk({}, "stop", x_groq={"id": "req_1", "usage": USAGE}),
            openai_usage(),
        ),
        "error in the middle": sse(openai_chunk(_ROLE), {"error": {"message": "failed", "code": 400}}, done=False),
    },
    "mistral": {
        "reasoning": sse(
            openai_chunk(_ROLE),
            openai_chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Add them."}]}]}),
            openai_chunk({"content": [{"type": "text", "text": "So"}]}),
            *_HELLO,
            openai_chunk({}, "stop", usage=USAGE),
        ),
    },
    "deepseek": {
        "cached": sse(
            openai_chunk(_ROLE),
            *_HELLO,
            openai_chunk(
                {},
                "stop",
                usage={
                    "prompt_tokens": 100,
                    "completion_tokens": 9,
                    "total_tokens": 109,
                    "prompt_cache_hit_tokens": 40,
                    "prompt_cache_miss_tokens": 60,
                },
            ),
        ),
    },
    "openrouter": {
        "comments and a cost": Transcript(
            [
                b": OPENROUTER PROCESSING\n\n",
                *sse(
                    openai_chunk({"role": "assistant", "content": "", "reasoning": "Add "}),
                    openai_chunk({"content": "", "reasoning": "them."}),
                    *_HELLO,
                    openai_chunk({"content": ""}, "stop"),
                    openai_usage(cost=0.0123),
                ).pieces,
            ]
        ),
        "error in the middle": sse(
            openai_chunk(_ROLE),
            openai_chunk({"content": ""}, "error", error={"code": 502, "message": "Provider disconnected"}),
            done=False,
        ),
        "limited in the middle": sse(openai_chunk(_ROLE), {"error": {"code": 429, "message": "slow"}}, done=False),
    },
    "hosted_vllm": {
        "error in the middle": sse(
            openai_chunk(_ROLE), openai_error("engine died", "BadRequestError", 400), done=False
        ),
        "reasoning": sse(
            openai_chunk(_ROLE), openai_chunk({"reasoning": "Add."}), *_HELLO, openai_chunk({}, "stop"), openai_usage()
        ),
    },
}


def claude(*blocks: tuple[JsonObject, Sequence[JsonObject]], stop: str = "end_turn", **kept: bool) -> Transcript:
    """Return a message as Anthropic streams it: its blocks with their deltas."""
    events: list[Json] = [{"type": "message_start", "message": CLAUDE_START}, {"type": "ping"}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta: JsonObject = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 30}})
    return sse(*events, {"type": "message_stop"}, named=True, **kept)


CLAUDE_START: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [],
    "model": "claude-sonnet-4-5-20250929",
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {
        "input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 50,
        "output_tokens": 1,
    },
}
_SAYS: tuple[JsonObject, list[JsonObject]] = (
    {"type": "text", "text": ""},
    [{"type": "text_delta", "text": piece} for piece in ("Hel", "lo, wörld")],
)
_THINKS: tuple[JsonObject, list[JsonObject]] = (
    {"type": "thinking", "thinking": "", "signature": ""},
    [
        {"type": "thinking_delta", "thinking": "Add "},
        {"type": "thinking_delta", "thinking": "them."},
        {"type": "signature_delta", "signature": "c2ln/+=="},
    ],
)
_HIDES: tuple[JsonObject, list[JsonObject]] = ({"type": "redacted_thinking", "data": "c2VjcmV0"}, [])


def _uses(number: int, *parts: str) -> tuple[JsonObject, list[JsonObject]]:
    block: JsonObject = {"type": "tool_use", "id": f"toolu_{number}", "name": "add", "input": {}}
    return block, [{"type": "input_json_delta", "partial_json": part} for part in ("", *parts)]


def claude_whole(*content: JsonObject, stop: str = "end_turn") -> Transcript:
    """Return a message that is not streamed."""
    usage: JsonObject = {**CLAUDE_START["usage"], "output_tokens": 30}  # type: ignore[dict-item]
    return whole({**CLAUDE_START, "content": list(content), "stop_reason": stop, "usage": usage})


def claude_error(kind: str, message: str = "No") -> JsonObject:
    """Return the body of a refusal, which is that of an event, too."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


_START: JsonObject = {"type": "message_start", "message": CLAUDE_START}
_BEGUN: list[JsonObject] = [
    _START,
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
]
CLAUDE_STREAMED: Mapping[str, Transcript] = {
    "text": claude(_SAYS),
    "one call": claude(_uses(1, '{"a": 1', ', "b": 2}'), stop="tool_use"),
    "text and two calls": claude(_SAYS, _uses(1, '{"a": 1, "b": 2}'), _uses(2, '{"a"', ": 3}"), stop="tool_use"),
    "a call without arguments": claude(_uses(1), stop="tool_use"),
    "thinking": claude(_THINKS, _SAYS),
    "thinking and a call": claude(_THINKS, _HIDES, _uses(1, '{"a": 1}'), stop="tool_use"),
    "cut at its length": claude(_SAYS, stop="max_tokens"),
    "refusal": claude(_SAYS, stop="refusal"),
    "stop sequence": claude(_SAYS, stop="stop_sequence"),
    "nothing said": claude(),
    "cut off": sse(*_BEGUN, named=True, cut=True),
    "ends without a word": sse(*_BEGUN, named=True),
    "overloaded in the middle": sse(*_BEGUN, claude_error("overloaded_error", "Overloaded"), named=True),
    "error in the middle": sse(*_BEGUN, claude_error("api_error", "Internal server error"), named=True),
}
CLAUDE_WHOLE: Mapping[str, Transcript] = {
    "text": claude_whole({"type": "text", "text": "Hello, wörld"}),
    "thinking and a call": claude_whole(
        {"type": "thinking", "thinking": "Add them.", "signature": "c2ln/+=="},
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
        {"type": "text", "text": "Let me see"},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1, "b": 2}},
        stop="tool_use",
    ),
    "cut at its length": claude_whole({"type": "text", "text": "Hel"}, stop="max_tokens"),
    "refusal": claude_whole(stop="refusal"),
    "a page": Transcript([b"<html>gateway</html>"], content_type="text/html"),
}
CLAUDE_REFUSED: Mapping[str, Transcript] = {
    "bad key": whole(claude_error("authentication_error", "invalid x-api-key"), 401),
    "not allowed": whole(claude_error("permission_error"), 403),
    "no such model": whole(claude_error("not_found_error", "model: claude-x"), 404),
    "limited": whole(claude_error("rate_limit_error"), 429, retry_after="9"),
    "account used up": whole(claude_error("invalid_request_error", "Your credit balance is too low"), 400),
    "too long": whole(claude_error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), 400),
    "bad request": whole(claude_error("invalid_request_error", "temperature: range"), 400),
    "too large": whole(claude_error("request_too_large"), 413),
    "server error": whole(claude_error("api_error"), 500),
    "overloaded": whole(claude_error("overloaded_error", "Overloaded"), 529, retry_after="4"),
}


def gemini_chunk(*parts: JsonObject, finish: str = "", **more: Json) -> JsonObject:
    """Return a chunk of generated content."""
    candidate: JsonObject = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-2.5-flash", "responseId": "r1", **more}


GEMINI_USAGE: JsonObject = {
    "promptTokenCount": 120,
    "candidatesTokenCount": 20,
    "totalTokenCount": 150,
    "cachedContentTokenCount": 64,
    "thoughtsTokenCount": 10,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 120}],
}
_END: JsonObject = {"usageMetadata": GEMINI_USAGE}


def _calls(name: str, **arguments: Json) -> JsonObject:
    return {"functionCall": {"name": name, "args": arguments}}


GEMINI_STREAMED: Mapping[str, Transcript] = {
    "text": sse(
        gemini_chunk({"text": "Hel"}, usageMetadata={"promptTokenCount": 120, "totalTokenCount": 120}),
        gemini_chunk({"text": "lo, wörld"}, finish="STOP", **_END),
        done=False,
    ),
    "one call": sse(gemini_chunk(_calls("add", a=1, b=2), finish="STOP", **_END), done=False),
    "two calls": sse(
        gemini_chunk(_calls("add", a=1), _calls("add", a=3)),
        gemini_chunk({"text": ""}, finish="STOP", **_END),
        done=False,
    ),
    "text and a call": sse(
        gemini_chunk({"text": "Let me see"}), gemini_chunk(_calls("add", a=1), finish="STOP", **_END), done=False
    ),
    "thoughts": sse(
        gemini_chunk({"text": "Add ", "thought": True}),
        gemini_chunk({"text": "them.", "thought": True}),
        gemini_chunk({"text": "So"}),
        gemini_chunk({"text": " it is"}, finish="STOP", **_END),
        done=False,
    ),
    "a signed call": sse(
        gemini_chunk({**_calls("add", a=1), "thoughtSignature": "c2ln"}, finish="STOP", **_END), done=False
    ),
    "cut at its length": sse(gemini_chunk({"text": "Hel"}, finish="MAX_TOKENS", **_END), done=False),
    "safety": sse(gemini_chunk({"text": "Hel"}), gemini_chunk(finish="SAFETY", **_END), done=False),
    "blocked prompt": sse({"promptFeedback": {"blockReason": "SAFETY"}, **_END, "modelVersion": "g"}, done=False),
    "cut off": sse(gemini_chunk({"text": "Hel"}), done=False, cut=True),
    "ends without a word": sse(gemini_chunk({"text": "Hel"}), done=False),
    "error in the middle": sse(
        gemini_chunk({"text": "Hel"}),
        {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}},
        done=False,
    ),
    "limited in the middle": sse(
        gemini_chunk({"text": "Hel"}),
        {"error": {"code": 429, "message": "q", "status": "RESOURCE_EXHAUSTED"}},
        done=False,
    ),
}
GEMINI_WHOLE: Mapping[str, Transcript] = {
    "text": whole(gemini_chunk({"text": "Hello, wörld"}, finish="STOP", **_END)),
    "calls": whole(gemini_chunk({"text": "See"}, _calls("add", a=1), _calls("add", a=3), finish="STOP", **_END)),
    "thoughts": whole(gemini_chunk({"text": "Hm", "thought": True}, {"text": "So"}, finish="STOP", **_END)),
    "cut at its length": whole(gemini_chunk({"text": "Hel"}, finish="MAX_TOKENS", **_END)),
    "safety": whole(gemini_chunk(finish="SAFETY", **_END)),
    "blocked prompt": whole({"promptFeedback": {"blockReason": "SAFETY"}, **_END, "modelVersion": "g"}),
    "a page": Transcript([b"<html>gateway</html>"], content_type="text/html"),
}


def gemini_error(code: int, status: str, message: str, **headers: str) -> Transcript:
    """Return a refusal."""
    return whole({"error": {"code": code, "message": message, "status": status}}, code, **headers)


GEMINI_REFUSED: Mapping[str, Transcript] = {
    "bad key": gemini_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "not allowed": gemini_error(403, "PERMISSION_DENIED", "No permission"),
    "no such model": gemini_error(404, "NOT_FOUND", "models/x is not found"),
    "limited": gemini_error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", retry_after="11"),
    "too long": gemini_error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "bad request": gemini_error(400, "INVALID_ARGUMENT", "Invalid value at temperature"),
    "server error": gemini_error(500, "INTERNAL", "An internal error has occurred"),
    "overloaded": gemini_error(503, "UNAVAILABLE", "The model is overloaded"),
}
