"""Model requests and answers, independent of any provider and of litellm."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol, cast, runtime_checkable

from core.json_types import JsonObject, canonical_json, read_json


class Role(StrEnum):
    """Who speaks in a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Marker(StrEnum):
    """The kind of a message, for the code that finds it again; people and models never see it."""

    SUMMARY = "summary"
    """The summary of messages that no longer fit into the context."""
    HANDED_OVER = "handed_over"
    """The result of a call that was handed over to a waiting turn."""
    CONTEXT = "context"
    """The time, recalled facts and pending questions, for a turn: prompts are the same from turn to turn up to it."""
    NOTE = "note"
    """Our line for the model, in place of content that cannot be shown: nobody's words."""
    FILE = "file"
    """A file that the person sent: our line, and below it the content, which others wrote."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for. `arguments` is the model's own text, which may be invalid JSON.

    `extra` is returned to the provider unchanged with this call (thought signatures).
    """

    id: str
    name: str
    arguments: str
    extra: JsonObject = field(default_factory=dict)

    def canonical_arguments(self) -> str:
        """Return the arguments so that equal arguments are the same text; unchanged if they cannot be read."""
        try:
            return canonical_json(read_json(self.arguments or "{}"))
        except ValueError:
            return self.arguments


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a conversation as the model sees it; history is a sequence of messages.

    `thinking` are the provider's own blocks, returned unchanged to the `model` that made them and never shown.
    `internal` marks a user message that is ours and not the person's, `outside` a message whose words the person only
    passed on. `state` is not part of the text but the conversation's state then (`core.loop.conversation_state`).
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str = ""
    thinking: tuple[JsonObject, ...] = ()
    model: str = ""
    internal: bool = False
    state: JsonObject = field(default_factory=dict)
    outside: bool = False
    marker: Marker | None = None
    pictures: tuple[bytes, ...] = field(default=(), repr=False)
    """JPEGs that a model that sees is shown, never stored."""

    def to_json(self) -> JsonObject:
        """Return the stored form, without empty fields."""
        out: JsonObject = {"role": self.role.value, "text": self.text}
        if self.tool_calls:
            out["tool_calls"] = [_call_to_json(call) for call in self.tool_calls]
        if self.thinking:
            out["thinking"] = list(self.thinking)
        for name in ("tool_call_id", "name", "model", "marker", "internal", "outside", "state"):
            if value := getattr(self, name):
                out[name] = value
        return out

    @classmethod
    def from_json(cls, data: JsonObject) -> "ChatMessage":
        return cls(
            role=Role(str(data["role"])),
            tool_calls=_calls_from_json(data),
            thinking=tuple(cast(list[JsonObject], data.get("thinking", []))),
            marker=Marker(str(data["marker"])) if data.get("marker") else None,
            **cast(dict[str, Any], {name: data[name] for name in _PLAIN if name in data}),
        )


_PLAIN = ("text", "tool_call_id", "name", "model", "internal", "outside", "state")
"""The fields of a chat message that its stored form holds as they are."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens, and the price in US dollars if litellm's map has the model's prices."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            sum(known) if known else None,
        )

    def to_json(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonObject) -> "TokenUsage":
        # A newer worker may write more fields, and its turn may be taken over by this process during an update.
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        return cls(**cast(dict[str, Any], known))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it: `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model call. `layer` is the index of the client's layer; times are seconds.

    `use_tools=False` asks for text although tools were called before.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    use_tools: bool = True
    parallel_tools: bool = True
    timeout: float = 60.0
    max_output_tokens: int | None = None
    temperature: float | None = None
    layer: int = 0

    def within(self, timeout: float) -> "ModelRequest":
        """Return the request with another timeout. Every call needs it, and `dataclasses.replace` is slower."""
        return ModelRequest(
            self.messages,
            self.tools,
            self.use_tools,
            self.parallel_tools,
            timeout,
            self.max_output_tokens,
            self.temperature,
            self.layer,
        )


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of some texts, in order, and their usage."""

    vectors: Sequence[Sequence[float]]
    usage: TokenUsage = field(default_factory=TokenUsage)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer: text, or calls (perhaps with text), or nothing."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: tuple[JsonObject, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    model: str = ""
    finish_reason: str = ""
    refusal: str = ""
    """The words in which the model refused to answer."""

    @property
    def refused(self) -> bool:
        """Return whether the model would not answer, or its provider withheld the answer."""
        return bool(self.refusal) or self.finish_reason == "content_filter"

    @property
    def cut(self) -> bool:
        """Return whether the answer ends because it reached its maximum length."""
        return self.finish_reason == "length"

    def message(self) -> ChatMessage:
        return ChatMessage(Role.ASSISTANT, self.text, self.tool_calls, thinking=self.thinking, model=self.model)

    def to_json(self) -> JsonObject:
        """Return the stored form, for the journal, which stores the usage separately."""
        out = self.message().to_json() | {"finish_reason": self.finish_reason}
        return out | {"refusal": self.refusal} if self.refusal else out

    @classmethod
    def from_json(cls, data: JsonObject, usage: TokenUsage) -> "ModelAnswer":
        message = ChatMessage.from_json(data)
        ended = (str(data.get("finish_reason", "")), str(data.get("refusal", "")))
        return cls(message.text, message.tool_calls, message.thinking, usage, message.model, *ended)


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A piece of a streamed answer.

    `text` may be empty while the model thinks or writes a call. The last piece has the `answer` and no text. `begun`
    is False as long as the provider has only said that the model is at work.
    """

    text: str = ""
    answer: ModelAnswer | None = None
    begun: bool = True


@dataclass(frozen=True, slots=True)
class TextSoFar:
    """Text that a model has just written, and all of this answer so far.

    `whole` starts again, equal to `text`, when a broken answer is requested again.
    """

    text: str
    whole: str


@dataclass(frozen=True, slots=True)
class ModelLayer:
    """A model with a key; after errors the layers are tried in order.

    `key` is the index of the key, 0 for the first or for the provider's own variable.
    """

    model: str
    key: int = 0
    reasoning_effort: str = ""


class ModelClient(Protocol):
    """A client of models. Safe to call concurrently."""

    layers: Sequence[ModelLayer]
    """The layers, best first; never empty."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Make a call, once, without retries of its own.

        Raises a subclass of `core.errors.ModelError`.
        """
        ...

    async def close(self) -> None: ...


@runtime_checkable
class StreamingModelClient(ModelClient, Protocol):
    """Optional capability: show an answer while it is written."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        """Make a call, once; yield its pieces, the whole answer last. Raises as `answer` does."""
        ...


def _call_to_json(call: ToolCall) -> JsonObject:
    out: JsonObject = {"id": call.id, "name": call.name, "arguments": call.arguments}
    if call.extra:
        out["extra"] = call.extra
    return out


def _calls_from_json(data: JsonObject) -> tuple[ToolCall, ...]:
    calls = cast(list[JsonObject], data.get("tool_calls", []))
    return tuple(
        ToolCall(str(call["id"]), str(call["name"]), str(call["arguments"]), cast(JsonObject, call.get("extra", {})))
        for call in calls
    )


BYTES_PER_TOKEN = 4
_MESSAGE_TOKENS = 4
PICTURE_TOKENS = 1600
"""Of a picture of 1568 pixels, with the providers that take the most."""


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """Estimate the tokens of messages: four bytes each, which is near for most languages."""
    size = 0
    for message in messages:
        text = message.text
        size += (_MESSAGE_TOKENS + PICTURE_TOKENS * len(message.pictures)) * BYTES_PER_TOKEN
        size += len(text) if text.isascii() else len(text.encode(errors="replace"))
        for call in message.tool_calls:
            size += len(call.arguments) + len(call.name)
        for block in message.thinking:
            size += len(str(block))
    return size // BYTES_PER_TOKEN


@dataclass(frozen=True, slots=True)
class Recording:
    """Sound as it was sent. `name` ends as its format does, `language` is a BCP 47 tag."""

    body: bytes = field(repr=False)
    name: str
    seconds: float
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The spoken words. `seconds`: the recording's length, if the server tells it."""

    text: str
    seconds: float = 0.0
