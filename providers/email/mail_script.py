"""The child process that reads messages by mail: a script by itself, which no other module imports.

Input and output are those of `providers.email.reading.mail`; if it fails, the output is `{"failure":...}`.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

PRELOADED = (
    "email.parser",
    "nh3",
    "providers.email.reading.mail",
    "resiliparse.extract.html2text",
    "resiliparse.parse.encoding",
    "resiliparse.parse.html",
)
MEMORY = 816 * 1024 * 1024
"""Bytes of address space: 768 MB, and some 48 MB for modules imported besides a reader's own needs."""
CPU_SECONDS = 20


def main() -> None:
    """Limit this process, then read and answer."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(PermissionError):  # systemd's filters of system calls may refuse it, and it only spares others
        os.nice(2)
    # `-I` keeps all our paths out, so that only this path is added.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    reader = import_module("providers.email.reading.mail")
    try:
        found, body = reader.read(sys.stdin.buffer.read())
    except reader.Unreadable as error:
        found, body = {"failure": str(error)}, b""
    except ModuleNotFoundError:
        found, body = {"failure": "no_reader"}, b""
    except MemoryError:
        found, body = {"failure": "too_much"}, b""
    except Exception:  # any error of a library on a message that is made to break it
        found, body = {"failure": "broken"}, b""
    sys.stdout.buffer.write(json.dumps(found, ensure_ascii=True).encode() + b"\n" + body)


if __name__ == "__main__":
    main()
