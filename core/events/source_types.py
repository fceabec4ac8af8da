"""What a source of events is: how it proves itself, and where things stand in its requests."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum

from core.json_types import JsonObject

A_MINUTE = 300
"""Events that a source may send in a minute, unless it says otherwise."""
RESERVED = frozenset({"sms", "slack", "telegram", "terminal", "push", "email"})
"""Channels publish under their own names, which no other source may have."""


class Style(StrEnum):
    """How a source proves that an event is its own."""

    BEARER = "bearer"
    """The secret itself in a header, by default `Authorization: Bearer`."""
    HMAC = "hmac"
    """HMAC-SHA256 of the body, in hex or base64, with the time before it if `timestamp_header` is set."""
    GITHUB = "github"
    STRIPE = "stripe"

    @property
    def signs_body_only(self) -> bool:
        """Return whether the body says everything: whoever has seen one request can write other headers to it.

        GitHub's signature covers no header either, but there the body names neither id nor type.
        """
        return self in (Style.HMAC, Style.STRIPE)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Where things stand in a source's requests; empty: where its style has them.

    Fields are paths in the body, their names joined by dots (`data.object.id`).
    """

    signature_header: str = ""
    timestamp_header: str = ""
    id_header: str = ""
    id_field: str = ""
    type_header: str = ""
    type_field: str = ""
    a_minute: int = A_MINUTE

    def to_json(self) -> JsonObject:
        """Write them down."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonObject) -> "SourceOptions":
        """Read what `to_json` wrote."""
        texts = {name: str(data.get(name, "")) for name in cls.__slots__ if name != "a_minute"}
        a_minute = data.get("a_minute")
        return cls(**texts, a_minute=a_minute if isinstance(a_minute, int) else A_MINUTE)


@dataclass(frozen=True, slots=True)
class EventSource:
    """One source. `secret` is set where the style must compute with it; of a bearer's there is the hash only."""

    tenant_id: str
    id: str
    name: str
    style: Style
    options: SourceOptions = SourceOptions()
    secret: bytes = field(default=b"", repr=False)
    secret_hash: bytes = field(default=b"", repr=False)
