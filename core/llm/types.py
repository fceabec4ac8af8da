"""What goes to a model and what comes back, free of any provider and of litellm."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, cast, runtime_checkable

from core.json_types import JsonObject


class Role(StrEnum):
    """Who speaks in a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Marker(StrEnum):
    """What a message is to the code that finds it again; people and models never see it."""

    SUMMARY = "summary"
    """The summary of what no longer fits into the context."""
    HANDED_OVER = "handed_over"
    """The result of a call that a waiting turn goes on with."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for. `arguments` is its own text, which may be no valid JSON.

    `extra` is what the provider wants back unaltered with this call (thought signatures).
    """

    id: str
    name: str
    arguments: str
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation as the model sees it; history is a sequence of these.

    `thinking` are the provider's own blocks, returned unaltered to the `model` that made them and never
    shown. `internal` marks a user message that is ours and not the person's, `outside` one whose words the person only
    passed on. `state` is no part of what is said:
    the conversation's state at that moment (`core.loop.conversation_state`).
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    thinking: tuple[JsonObject, ...] = ()
    model: str = ""
    internal: bool = False
    state: JsonObject = field(default_factory=dict)
    outside: bool = False
    marker: Marker | None = None

    def to_json(self) -> JsonObject:
        """Write it down for history; empty fields are left out."""
        out: JsonObject = {"role": self.role.value, "text": self.text}
        if self.tool_calls:
            out["tool_calls"] = [_call_to_json(call) for call in self.tool_calls]
        if self.thinking:
            out["thinking"] = list(self.thinking)
        for key in ("tool_call_id", "name", "model", "marker"):
            if value := getattr(self, key):
                out[key] = value
        if self.internal:
            out["internal"] = True
        if self.outside:
            out["outside"] = True
        if self.state:
            out["state"] = self.state
        return out

    @classmethod
    def from_json(cls, data: JsonObject) -> "ChatMessage":
        """Read what `to_json` wrote."""
        return cls(
            role=Role(str(data["role"])),
            text=str(data.get("text", "")),
            tool_calls=_calls_from_json(data),
            tool_call_id=str(data.get("tool_call_id", "")),
            name=str(data.get("name", "")),
            thinking=_thinking_from_json(data),
            model=str(data.get("model", "")),
            internal=bool(data.get("internal", False)),
            outside=bool(data.get("outside", False)),
            state=cast(JsonObject, data.get("state", {})),
            marker=Marker(str(data["marker"])) if data.get("marker") else None,
        )


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens, and the price in US dollars where litellm's map knows one."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    @property
    def total(self) -> int:
        """Count what went in and what came out."""
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
        """Write it down for the journal."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "cost": self.cost,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "TokenUsage":
        """Read what `to_json` wrote."""
        cost = data.get("cost")
        return cls(
            int(cast(int, data.get("input_tokens", 0))),
            int(cast(int, data.get("output_tokens", 0))),
            int(cast(int, data.get("cached_tokens", 0))),
            float(cost) if isinstance(cost, int | float) else None,
        )


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it: `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call. `layer` says which of the client's layers takes it; times are seconds.

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
        """Return the same request with another time limit; each call is one, so this is no `dataclasses.replace`."""
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
class ModelAnswer:
    """What a model said: text, or calls (and perhaps text beside them), or nothing at all."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: tuple[JsonObject, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    model: str = ""
    finish_reason: str = ""

    @property
    def cut(self) -> bool:
        """Return whether it ends where it reached its greatest length, and not where it was finished."""
        return self.finish_reason == "length"

    def message(self) -> ChatMessage:
        """Return the answer as it stands in the conversation."""
        return ChatMessage(Role.ASSISTANT, self.text, self.tool_calls, thinking=self.thinking, model=self.model)

    def to_json(self) -> JsonObject:
        """Write it down for the journal, without the usage, which has its own place there."""
        return self.message().to_json() | {"finish_reason": self.finish_reason}

    @classmethod
    def from_json(cls, data: JsonObject, usage: TokenUsage) -> "ModelAnswer":
        """Read what `to_json` wrote."""
        said = ChatMessage.from_json(data)
        return cls(said.text, said.tool_calls, said.thinking, usage, said.model, str(data.get("finish_reason", "")))


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A piece of an answer that is being made.

    `text` may be empty: the model thinks, or writes a call. `answer` is in the last piece, which has no text.
    """

    text: str = ""
    answer: ModelAnswer | None = None


@dataclass(frozen=True, slots=True)
class TextSoFar:
    """Words that a model has just written, and all of this answer until now.

    `whole` begins anew, and is the same as `text`, when an answer broke off and is asked for again.
    """

    text: str
    whole: str


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that runs in this process: its litellm name, and what answers messages in OpenAI's form.

    `answer` is given the messages and the names of the tools that are offered.
    """

    model: str
    answer: Callable[[Sequence[JsonObject], Collection[str]], ModelAnswer]


@dataclass(frozen=True, slots=True)
class ModelLayer:
    """One way to reach a model; the error strategies go through these in order.

    `key` is which key it opens with, 0 for the first or for the provider's own variable.
    """

    model: str
    key: int = 0
    reasoning_effort: str = ""


class ModelClient(Protocol):
    """A way to ask models. Safe to call concurrently."""

    layers: Sequence[ModelLayer]
    """What can be tried, best first; never empty."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Make one call, once, without retries of its own.

        Raises one of `core.errors.ModelError`.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class StreamingModelClient(ModelClient, Protocol):
    """A way to ask models that also shows an answer while it is made. One that is only a `ModelClient` will do."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        """Make one call, once; give its pieces, the whole answer last. Raises as `answer` does."""
        ...


def _call_to_json(call: ToolCall) -> JsonObject:
    out: JsonObject = {"id": call.id, "name": call.name, "arguments": call.arguments}
    if call.extra:
        out["extra"] = call.extra
    return out


def _calls_from_json(data: JsonObject) -> tuple[ToolCall, ...]:
    calls = cast(list[JsonObject], data.get("tool_calls", []))
    return tuple(
        ToolCall(
            str(call["id"]),
            str(call["name"]),
            str(call["arguments"]),
            cast(JsonObject, call.get("extra", {})),
        )
        for call in calls
    )


def _thinking_from_json(data: JsonObject) -> tuple[JsonObject, ...]:
    return tuple(cast(list[JsonObject], data.get("thinking", [])))
