"""A standing consent as it is stored, and the record of a call by it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Literal, cast

from core.json_types import JsonObject, canonical_json

type Told = Literal["at once", "digest"]
"""Whether the person reads of each use at once, or in the next digest."""
MAX_USES = 200
MAX_DAYS = 90
MAX_ACTIVE = 20
"""Consents that a person may have at a time."""


class EndReason(StrEnum):
    """The reason why a consent has ended."""

    WITHDRAWN = "withdrawn"
    USED_UP = "used_up"
    EXPIRED = "expired"
    TOOL_CHANGED = "tool_changed"
    ALTERED = "altered"
    """The stored row differs from the approved consent."""
    LINKED = "linked"
    """Two people were merged, or parted: the consent was bound to either as they were before."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """The full content of a person's consent, which is bound to the SHA-256 of its canonical JSON.

    `bounds` has a bound for every parameter (`core.consents.shape`), `version` is the tool's version at that time.
    """

    tenant: str
    tool: str
    version: str
    bounds: JsonObject
    max_uses: int
    expires_at: datetime
    told: Told

    @property
    def sealed(self) -> str:
        """Return the canonical text. The approver is the tenant, on any of their addresses."""
        return canonical_json(
            {
                "approver": self.tenant,
                "bounds": self.bounds,
                "expires_at": self.expires_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "max_uses": self.max_uses,
                "tenant": self.tenant,
                "told": self.told,
                "tool": self.tool,
                "version": self.version,
            }
        )

    @property
    def hash(self) -> str:
        return _sha256(self.sealed)


@dataclass(frozen=True, slots=True)
class StandingConsent:
    """A stored consent. `number` is its name for people; `agreed` is read from the sealed text alone."""

    id: str
    number: int
    agreed: Agreed
    hash: str
    used: int
    state: Literal["active", "ended"]
    reason: str
    created_at: datetime
    is_whole: bool
    """Whether the row agrees with the sealed text, and the seal is its own."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "StandingConsent":
        """Read a row of `standing_consents`."""
        said = cast(dict[str, Any], json.loads(row["sealed"]))
        agreed = Agreed(
            said["tenant"],
            said["tool"],
            said["version"],
            said["bounds"],
            said["max_uses"],
            datetime.fromisoformat(said["expires_at"]),
            said["told"],
        )
        columns = (row["tenant_id"], row["name"], row["max_uses"], row["expires_at"], row["told"])
        whole = (
            columns == (agreed.tenant, agreed.tool, agreed.max_uses, agreed.expires_at, agreed.told)
            and said["approver"] == row["tenant_id"]
            and row["hash"] == _sha256(row["sealed"])
        )
        return cls(
            row["id"],
            row["number"],
            agreed,
            row["hash"],
            row["used"],
            row["state"],
            row["reason"],
            row["created_at"],
            whole,
        )


@dataclass(frozen=True, slots=True)
class ConsentUse:
    """A call that runs by a consent: the `number` of the use, from 1."""

    id: str
    number: int


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
