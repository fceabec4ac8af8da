"""The child process that reads and writes iCalendar: a script by itself, which no other module imports.

Input and output are JSON. An event that others wrote may be made to run for ever or to fill the memory: each is given
little time, and all of them together are bounded by the process.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

PRELOADED = ("abilities.calendar.ical.answering",)
MEMORY = 512 * 1024 * 1024
CPU_SECONDS = 15


def main() -> None:
    """Limit this process, then carry out the request."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(PermissionError):  # systemd's filters of system calls may refuse it, and it only spares others
        os.nice(2)
    # `-I` keeps all our paths out, so that only this path is added.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    asked = json.loads(sys.stdin.buffer.read())
    answered = import_module("abilities.calendar.ical.answering").answer(asked)
    sys.stdout.buffer.write(json.dumps(answered, ensure_ascii=True).encode())


if __name__ == "__main__":
    main()
