"""What a process of ours is given beside peers: less patience, and a tick that tells how long its loop stood still.

FAULTS_PEERS turns it on. `ticks.jsonl` has a line for each tick that came late: {"pid", "late", "used", "where"}: by
how many seconds it was late, how much processor time the whole process used meanwhile, and what the loop's thread did.
A tick that is late while nothing was used waited for the machine, not for us.
"""

import asyncio
import gc
import importlib
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from tests.faults.journals import append

TICKS = "ticks.jsonl"
EVERY = 0.02
NOTED = 0.05
"""Seconds from which a late tick is noted."""
_LOOK = 0.03
"""Seconds between two looks at what the thread of a late loop does."""
_FRAMES = 8
SHORTER: Mapping[str, Mapping[str, float]] = {
    "abilities.mail.trial": {"SECONDS": 1.5},
    "core.http.peer": {"FIRST_PAUSE": 0.05, "MAX_PAUSE": 0.1},
    "providers.email.imap_wire": {"SECONDS": 2.0},
    "abilities.files.vision": {"_SECONDS": 3.0},
    "notify.push.send": {"CONNECT_SECONDS": 1.0, "TOTAL_SECONDS": 2.0},
}
"""Constants of the product, in seconds, which are minutes or so as it ships."""
SHORTER_DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "providers.email.smtp:open_submission": {"seconds": 2.0},
    "core.http.guarded_client:Limits.__init__": {"total": 3.0, "silence": 2.0},
    "abilities.mail.watcher:WatchLimits.__init__": {"renew": 1.5},
    "abilities.files.opening:build_transcriber": {"patience": 2.0},
    "abilities.speech.opening:build_speaker": {"patience": 2.0},
}
"""The same where they are defaults."""


def put_in_place(folder: Path) -> None:
    """Make this process impatient, and let its loop tick."""
    for name, constants in SHORTER.items():
        module = importlib.import_module(name)
        for constant, seconds in constants.items():
            assert hasattr(module, constant), f"{name} has no {constant} any more"
            setattr(module, constant, seconds)
    for name, defaults in SHORTER_DEFAULTS.items():
        _shorten(found(name), defaults)
    loop: Any = asyncio.BaseEventLoop
    loop.run_forever = _ticking(asyncio.BaseEventLoop.run_forever, folder / TICKS)


def found(name: str) -> Any:
    """Return the function that a name such as `module:Class.method` means."""
    module, _, path = name.partition(":")
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part)
    return value


def defaults_of(function: Any) -> dict[str, object]:
    """Return the defaults of a function's parameters."""
    parameters = inspect.signature(inspect.unwrap(function)).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def _shorten(function: Any, defaults: Mapping[str, float]) -> None:
    inner = inspect.unwrap(function)
    by_name = [*(inner.__kwdefaults__ or {})]
    ordered = [name for name in defaults_of(inner) if name not in by_name]
    values = [*(inner.__defaults__ or ())]
    for name, seconds in defaults.items():
        if name in by_name:
            inner.__kwdefaults__[name] = seconds
        else:
            values[ordered.index(name)] = seconds
    inner.__defaults__ = tuple(values) or None


def _ticking(run_forever: Callable[[Any], None], journal: Path) -> Callable[[Any], None]:
    def run(loop: Any) -> None:
        due, used = time.monotonic() + EVERY, time.process_time()
        seen: list[str] = []

        def tick() -> None:
            nonlocal due, used
            late, spent = time.monotonic() - due, time.process_time() - used
            if late > NOTED:
                append(journal, pid=os.getpid(), late=late, used=spent, where="; ".join(dict.fromkeys(seen)))
            seen.clear()
            due, used = time.monotonic() + EVERY, time.process_time()
            loop.call_later(EVERY, tick)

        _watch(threading.get_ident(), lambda: time.monotonic() > due + NOTED, seen.append)
        loop.call_later(EVERY, tick)
        run_forever(loop)

    return run


def _watch(loop_thread: int, is_late: Callable[[], bool], note: Callable[[str], None]) -> None:
    """Note what a loop's thread does while it is late, and each slow collection of garbage: both stop the loop."""
    began = time.process_time()

    def collects(phase: Literal["start", "stop"], info: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.process_time()
        elif (took := time.process_time() - began) > _LOOK:
            note(f"garbage of generation {info['generation']} in {took:.2f} s")

    def look() -> None:
        while True:
            time.sleep(_LOOK)
            frames = sys._current_frames() if is_late() else {}
            if (frame := frames.pop(loop_thread, None)) is not None:
                note(_stack(frame))
            if frame is not None and frame.f_code.co_name == "select":
                # The loop waits for nothing but its turn: another thread has the interpreter.
                frames.pop(threading.get_ident(), None)
                for other in filter(_is_at_work, frames.values()):
                    note(f"thread {_stack(other)}")

    gc.callbacks.append(collects)
    threading.Thread(target=look, name="stalls", daemon=True).start()


def _is_at_work(frame: FrameType) -> bool:
    return frame.f_code.co_name not in {"wait", "_worker", "select", "look"}


def _stack(frame: FrameType) -> str:
    """Return the innermost frames, outermost first."""
    frames: list[str] = []
    inner: FrameType | None = frame
    while inner is not None and len(frames) < _FRAMES:
        frames.insert(0, f"{'/'.join(Path(inner.f_code.co_filename).parts[-2:])}:{inner.f_lineno}")
        inner = inner.f_back
    return " > ".join(frames)
