"""How job payloads are written in Redis: JSON, never pickle, whose reader runs what a writer wants."""

import json
from typing import Any


def pack(job: dict[str, Any]) -> bytes:
    """Write arq's job dictionary. Exceptions (arq keeps none for us, but may pass one) become their name."""
    return json.dumps(job, default=lambda value: f"{type(value).__name__}").encode()


def unpack(data: bytes) -> dict[str, Any]:
    job: dict[str, Any] = json.loads(data)
    return job
