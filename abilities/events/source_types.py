"""Event sources: their proofs, and the fields of their requests."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum

from core.json_types import JsonObject

A_MINUTE = 300
"""Default limit of events a minute."""
MAIL = "mail"
"""The source of the new mail of a person's mailboxes."""
MAIL_RECEIVED = "mail.received"
RESERVED = frozenset({"sms", "slack", "telegram", "terminal", "push", "email", "mcp", MAIL})
"""Channels and mailboxes publish events under these names, which no other source may have."""


class Style(StrEnum):
    """How a source proves its events."""

    BEARER = "bearer"
    """The secret itself in a header, by default `Authorization: Bearer`."""
    HMAC = "hmac"
    """HMAC-SHA256 of the body, in hex or base64, prefixed with the time if `timestamp_header` is set."""
    GITHUB = "github"
    STRIPE = "stripe"

    @property
    def signs_body_only(self) -> bool:
        """Return whether headers must not be trusted: anybody who has seen a request can send it with others.

        GitHub's signature covers no header either, but its bodies have neither id nor type.
        """
        return self in (Style.HMAC, Style.STRIPE)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The places of signature, id and type in a source's requests; empty: those of its style.

    Fields are paths in the body, with names joined by dots (`data.object.id`).
    """

    signature_header: str = ""
    timestamp_header: str = ""
    id_header: str = ""
    id_field: str = ""
    type_header: str = ""
    type_field: str = ""
    a_minute: int = A_MINUTE

    def to_json(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonObject) -> "SourceOptions":
        texts = {name: str(data.get(name, "")) for name in cls.__slots__ if name != "a_minute"}
        a_minute = data.get("a_minute")
        return cls(**texts, a_minute=a_minute if isinstance(a_minute, int) else A_MINUTE)


@dataclass(frozen=True, slots=True)
class EventSource:
    """An event source. `secret` is set if the style computes with it; of a bearer's secret only the hash is stored."""

    tenant_id: str
    id: str
    name: str
    style: Style
    options: SourceOptions = SourceOptions()
    secret: bytes = field(default=b"", repr=False)
    secret_hash: bytes = field(default=b"", repr=False)
    former_names: tuple[str, ...] = ()
    """Its names before two people were merged: a bearer's requests still arrive under these."""
