"""A job's side of a child process: its limits, its request and its answer, for scripts that import this at their top.

The kept process has loaded it by then, like all that a script imports at its top or names in `PRELOADED`: a job loads
nothing of ours, since its own path need not lead there.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

type JobAnswer = tuple[Mapping[str, Any], bytes]
"""Values, and the bytes of a file or a picture among them."""


class Unreadable(Exception):
    """The job cannot be done; the argument is the reason in a single word, which `ask_child` raises again."""


def answer_request(read: Callable[[Mapping[str, Any], bytes], JobAnswer], *, memory: int, cpu_seconds: int) -> None:
    """Limit this process, read the request, and write the result of `read` for its values and its bytes.

    `memory`: bytes of address space, the modules of the kept process included. An error of `read` becomes a reason:
    "no_reader" if a library is not installed, "too_much" if the memory was used up, else "broken".
    """
    _limit(memory, cpu_seconds)
    values = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    found: Mapping[str, Any]
    try:
        found, body = read(values, data)
    except Unreadable as error:
        found, body = {"failure": str(error)}, b""
    except ModuleNotFoundError:
        found, body = {"failure": "no_reader"}, b""
    except MemoryError:
        found, body = {"failure": "too_much"}, b""
    except Exception:  # libraries raise anything on bytes that are made to break them
        found, body = {"failure": "broken"}, b""
    sys.stdout.buffer.write(json.dumps(found).encode() + b"\n" + body)


def _limit(memory: int, cpu_seconds: int) -> None:
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # Linux has it
        score.write("1000")  # if memory runs out, this process ends, not the worker
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(PermissionError):  # systemd's filters of system calls may refuse it, and it only spares others
        os.nice(2)
