"""The append-only files that a run leaves behind, one JSON object a line, each written by one kind of process.

phones.jsonl     what people wrote: {"at", "event": "saying" | "said", "token", "person", "channel", "status"}
providers.jsonl  every exchange with the gateway, as the simulator keeps it
effects.jsonl    what tools did outside: {"at", "kind": "once" | "again", "token", "key", "pid"}
strikes.jsonl    what was done to the system: {"at", "what", "target", "back": when it was over}
watch.jsonl      what an onlooker saw now and then: {"at", "stuck": rows in a running state without a live lease}
"""

import json
import os
import time
from pathlib import Path

from core.json_types import JsonObject


def append(path: Path, **values: object) -> None:
    """Add a line with the time, whole, whoever else adds."""
    line = json.dumps({"at": time.time(), **values}) + "\n"
    handle = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def read(path: Path) -> list[JsonObject]:
    """Return every whole line; a file that nobody wrote is empty."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]
