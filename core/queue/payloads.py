"""Job payloads in Redis: JSON, never pickle, which can run its writer's code."""

import json
from typing import Any


def pack(job: dict[str, Any]) -> bytes:
    """Serialize arq's job dictionary. An exception becomes its name: arq stores no results for us, but may pass any."""
    return json.dumps(job, default=lambda value: f"{type(value).__name__}").encode()


def unpack(data: bytes) -> dict[str, Any]:
    job: dict[str, Any] = json.loads(data)
    return job
