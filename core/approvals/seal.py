"""The seal of an approval: SHA-256 over canonical JSON of approver, arguments, expiry, tenant and tool (promise 9).

If an agent asks by itself, the seal covers its question and its state too; if somebody else must agree, that person.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from core.json_types import JsonObject, canonical_json


@dataclass(frozen=True, slots=True)
class Sealed:
    """The canonical text before and after the expiry, which is known only when the card is sent."""

    head: str
    tail: str

    def hash(self, expires_at: datetime) -> str:
        return hashlib.sha256(self._text(expires_at).encode()).hexdigest()

    def open(self, expires_at: datetime) -> JsonObject:
        """Return the sealed values: approver, arguments, expiry, tenant, tool, and any `also`, `asks` and `state`."""
        return cast(JsonObject, json.loads(self._text(expires_at)))

    def _text(self, expires_at: datetime) -> str:
        return self.head + expires_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") + self.tail


def seal(
    tenant_id: str,
    approver: str,
    tool: str,
    arguments: JsonObject,
    question: str = "",
    state: JsonObject | None = None,
    also: str = "",
) -> Sealed:
    """Return the seal of a call.

    `question` and `state` are an agent's own, if it asks by itself; `also` is the tenant of another person who must
    agree. Raises `ValueError` if a value is not JSON (NaN and Infinity are not).
    """
    json.dumps([arguments, state], allow_nan=False)
    # In canonical order the expiry comes between these two.
    before: JsonObject = {"approver": approver, "arguments": arguments}
    if also:
        before["also"] = also
    after: JsonObject = {"tenant": tenant_id, "tool": tool}
    head = canonical_json(before | {"asks": question} if question else before)
    tail = canonical_json(after | {"state": state} if state else after)
    return Sealed(f'{head[:-1]},"expiry":"', f'",{tail[1:]}')
