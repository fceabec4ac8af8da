"""A planned call, and the interface of a family of providers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from yarl import URL

from core.json_types import Json, JsonObject
from core.llm.types import ModelAnswer


@dataclass(frozen=True, slots=True)
class Call:
    """The input of a plan. `name` is litellm's name of the model, `options` are OpenAI's of the call."""

    name: str
    model: str
    provider: str
    options: Mapping[str, Any]
    key: str | None
    base: str | None
    stream: bool


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a call."""

    url: URL
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """A prepared call without its messages.

    `config` is litellm's transformation; `options` are the provider's own, `parameters` are litellm's of the call.
    """

    call: Call
    family: "Family"
    endpoint: Endpoint
    config: Any
    options: Mapping[str, Any]
    parameters: Mapping[str, Any]
    fixed: str = ""
    """The body of a request without its messages, as JSON, if a family can prepare it."""


class StreamedBody(Protocol):
    """The events of a streamed answer, put together."""

    characters: int
    """Characters of text, thoughts and arguments so far."""
    pieces: int
    ended: bool
    """Whether the stream has ended."""

    @property
    def finished(self) -> bool:
        """Return whether the provider has sent the reason for the answer's end."""
        ...

    def add(self, event: JsonObject) -> str:
        """Take an event; return the text that it adds, as it came. Raises `ProviderRefused` for an error."""
        ...

    def answer(self, plan: Plan, sent: Sequence[JsonObject], headers: Mapping[str, str]) -> ModelAnswer:
        """Return the whole answer to the messages that were sent. `headers` are the response's, in lower case."""
        ...


class Family(Protocol):
    """Providers that share a wire format."""

    variables: Mapping[str, tuple[str, ...]]
    """The environment variables with the addresses of each provider."""

    def endpoint(self, call: Call, config: Any, options: dict[str, Any]) -> Endpoint | None:
        """Return the address of a call; None if litellm must find it, or complain."""
        ...

    def fixed(self, plan: Plan) -> str:
        """Return the body of a request without its messages, as JSON; empty if it depends on them."""
        ...

    def request(self, plan: Plan, messages: list[JsonObject]) -> tuple[Mapping[str, str], str]:
        """Return the headers and the body of a request."""
        ...

    def body(self) -> StreamedBody:
        """Return an empty body for a stream."""
        ...


class Room:
    """The room for a streamed body's data besides the model's text, whose length is counted apart.

    Signatures, sources and fields of the provider's own have no tokens, so no other limit applies to them.
    """

    def __init__(self) -> None:
        self._left = _MOST_KEPT

    def keep[T](self, value: T, instead: object = None) -> T:
        """Return a value to store in place of `instead`. Raises `ValueError` if there is no room for it."""
        self._left -= _size(value) - (0 if instead is None else _size(instead))
        if self._left < 0:
            raise ValueError("more fields than an answer has")
        return value

    def update(self, fields: JsonObject, told: Mapping[str, Json]) -> None:
        """Keep fields instead of those with the same names."""
        for name, value in told.items():
            fields[name] = self.keep(value, fields.get(name))


def _size(value: object) -> int:
    return len(value if isinstance(value, str) else str(value)) + _EACH


_MOST_KEPT, _EACH = 1024 * 1024, 64


class ProviderRefused(Exception):
    """The error that a provider returned instead of an answer, by HTTP's status or within a stream."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.text = text
        self.headers = dict(headers or {})
