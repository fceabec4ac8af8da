"""The values of MCP servers: their addresses, their tools, and their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from core.json_types import JsonObject, canonical_hash


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server as the operator configured it: a `command` that speaks over its pipes, or the `url` of a remote server.

    `allow` are patterns of tools that may be offered, `read_only` of those that run without approval if the server also
    says that they only read. `account` is the account of the person that a remote server needs, in the notation of
    tools. `timeout` is in seconds.
    """

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    account: str | None = None
    allow: tuple[str, ...] = ("*",)
    read_only: tuple[str, ...] = ()
    resources: bool = False
    high_risk: tuple[str, ...] = ()
    timeout: float = 30.0

    def allows(self, tool: str) -> bool:
        """Return whether a tool is on the allow list."""
        return _any(self.allow, tool)

    def trusts_to_read(self, tool: str) -> bool:
        """Return whether the operator says that a tool only reads."""
        return _any(self.read_only, tool)

    def is_high_risk(self, tool: str) -> bool:
        """Return whether the operator wants the stricter kind of consent for a tool."""
        return _any(self.high_risk, tool)


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as its server describes it. `reads`: the server says that it changes nothing (`readOnlyHint`)."""

    name: str
    description: str = ""
    schema: JsonObject = field(default_factory=dict)
    reads: bool = False

    @property
    def hash(self) -> str:
        """Return its identity: it changes with any text for the model, and with anything that decides about consent."""
        return canonical_hash(self.to_json())

    def to_json(self) -> JsonObject:
        """Return it as it is stored."""
        return {"name": self.name, "description": self.description, "schema": self.schema, "reads": self.reads}

    @classmethod
    def from_json(cls, data: JsonObject) -> "Definition":
        schema = data.get("schema")
        return cls(
            str(data.get("name", "")),
            str(data.get("description", "")),
            schema if isinstance(schema, dict) else {},
            data.get("reads") is True,
        )


@dataclass(frozen=True, slots=True)
class Picture:
    """Something in a result that is no text, with its bytes."""

    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ServerReply:
    """The reply of a server to a call. `failed`: the call did not succeed, and `text` says why."""

    text: str
    pictures: tuple[Picture, ...] = ()
    failed: bool = False


def _any(patterns: tuple[str, ...], tool: str) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in patterns)
