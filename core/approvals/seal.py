"""What binds an approval: a SHA-256 over canonical JSON of approver, arguments, expiry, tenant and tool (promise 9)."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from core.canonical import canonical_json
from core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class Sealed:
    """The canonical text before and after the expiry, which is known only when the card is sent."""

    head: str
    tail: str

    def hash(self, expires_at: datetime) -> str:
        """Give the hash, as the database's `approval_hash` does."""
        return hashlib.sha256(self._text(expires_at).encode()).hexdigest()

    def open(self, expires_at: datetime) -> JsonObject:
        """Give what is bound: approver, arguments, expiry, tenant, tool."""
        return cast(JsonObject, json.loads(self._text(expires_at)))

    def _text(self, expires_at: datetime) -> str:
        return self.head + expires_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") + self.tail


def seal(tenant_id: str, approver: str, tool: str, arguments: JsonObject) -> Sealed:
    """Bind a call; the names are in canonical order, with the expiry in their middle.

    Raises `ValueError` where the arguments are no JSON (a number that is none).
    """
    json.dumps(arguments, allow_nan=False)
    head = canonical_json({"approver": approver, "arguments": arguments})
    tail = canonical_json({"tenant": tenant_id, "tool": tool})
    return Sealed(f'{head[:-1]},"expiry":"', f'",{tail[1:]}')
