"""The only clock. Every time that a person would call "when" is read here and passed on.

Leases and attempts use the database's clock instead: they compare moments of several machines. `within` and `elapsed`
measure spans as a busy process sees them: a loop that was held up (another task computed, the machine was overloaded or
asleep) finds the answers of its calls waiting in its sockets, which a plain timeout would discard.
"""

import asyncio
import json
import math
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.language.catalogue import gettext


class Clock:
    """The time, shifted and sped up alike in all processes that read the same file.

    The file holds JSON: {"base": unix seconds, "offset": seconds, "rate": factor}; a rate of 0 stops it.
    People's time is base + (real - base) * rate + offset. Without a file it is the machine's time.
    """

    def __init__(self, path: Path | None = None, machine: Callable[[], float] = time.time) -> None:
        self._path = path
        self._machine = machine
        self._stamp = 0
        self._base, self._offset, self._rate = 0.0, 0.0, 1.0

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        return self.moment_of(self._machine())

    def machine_now(self) -> datetime:
        """Return the machine's own moment, for the age of rows that the database dated."""
        return datetime.fromtimestamp(self._machine(), tz=UTC)

    async def sound_now(self) -> datetime | None:
        """Return the present moment for actions that cannot be undone, or None while the clock cannot be relied on."""
        return self.now()

    def moment_of(self, real: float) -> datetime:
        """Return the moment that it tells when the machine's time is `real`."""
        self._reload()
        # Added as whole microseconds: a sum of Unix seconds in floating point may end a microsecond early, and a clock
        # that was stopped and then moved two hours ahead would never reach work that is due in two hours.
        passed = timedelta(seconds=(real - self._base) * self._rate)
        return datetime.fromtimestamp(self._base, tz=UTC) + passed + timedelta(seconds=self._offset)

    @property
    def rate(self) -> float:
        """Return the number of its seconds in a real second; 0 while it stands still."""
        self._reload()
        return self._rate

    def real_seconds(self, seconds: float) -> float:
        """Return the real length of seconds of the clock's time: without end while it stands still."""
        if seconds <= 0:
            return 0.0
        rate = self.rate
        return seconds / rate if rate else math.inf

    async def sleep(self, span: timedelta) -> None:
        """Wait for a span of the clock's time; while it stands still, of the machine's."""
        await asyncio.sleep(span.total_seconds() / (self.rate or 1.0))

    def _reload(self) -> None:
        if self._path is None:
            return
        try:
            stamp = self._path.stat().st_mtime_ns
        except FileNotFoundError:
            return
        if stamp == self._stamp:
            return
        values = json.loads(self._path.read_text())
        self._base, self._offset, self._rate = (float(values["base"]), float(values["offset"]), float(values["rate"]))
        self._stamp = stamp


def set_clock(path: Path, *, offset: float = 0.0, rate: float = 1.0, base: float | None = None) -> None:
    """Write the file that every process reads; atomic. `base`: the machine's time from which `rate` holds, else now."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"base": time.time() if base is None else base, "offset": offset, "rate": rate}))
    fresh.replace(path)


_STEP = 0.5
"""Seconds that an interval counts at most: more pass only while the loop is held up."""


async def within[T](seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`; raise `TimeoutError` once the loop has waited `seconds` for it.

    Seconds in which the loop did not run are not counted.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name="within")
    left = seconds
    try:
        while left > 0:
            began = loop.time()
            await asyncio.wait({task}, timeout=min(left, _STEP))
            if task.done():
                return task.result()
            left -= min(loop.time() - began, _STEP)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
    if not task.cancelled():
        return task.result()  # the answer came in during the cancellation
    raise TimeoutError


def elapsed() -> float:
    """Return seconds since an arbitrary moment, including those in which the machine slept."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def zone_or_utc(name: str | None) -> ZoneInfo:
    """Return the zone of that name, or UTC if the name is unknown: tzdata drops some, and hosts differ."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def zone_note(name: str | None) -> str:
    """Return a sentence that times are in UTC, since the name is not known here; empty if it is known."""
    if not name or zone_or_utc(name).key == name:
        return ""
    return gettext("Times are in UTC, since the timezone {name} no longer exists.", name=repr(name))
