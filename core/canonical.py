"""One way to write JSON down, so that the same arguments always have the same hash."""

import hashlib
import json

from core.json_types import Json

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_json(value: Json) -> str:
    """Write JSON with sorted keys, no spaces and no escapes; equal values give equal text."""
    return _ENCODER.encode(value)


def canonical_hash(value: Json) -> str:
    """Return the SHA-256 of the canonical form, in hex."""
    # JSON may hold lone surrogates, which plain UTF-8 refuses.
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()
