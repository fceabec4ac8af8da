"""Note each pause of a process by the garbage collector: its ms of CPU, a line each, in the file of `BENCH_PAUSES`.

Python imports this by itself at its start if this folder is on its path.
"""

import gc
import os
import time

_LEAST = 0.005
"""Seconds: shorter pauses are nothing that a person could notice."""


def _note(to: str) -> None:
    began = [0.0]

    def told(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            began[0] = time.thread_time()
        elif (took := time.thread_time() - began[0]) >= _LEAST:
            with open(f"{to}.{os.getpid()}", "a", encoding="ascii") as file:
                file.write(f"{took * 1000:.2f}\n")

    gc.callbacks.append(told)


if os.environ.get("BENCH_PAUSES"):
    _note(os.environ["BENCH_PAUSES"])
