"""A plugin whose process kills itself, for real, while it takes in new mail: at the point that KILLS_MAIL names.

"opened"   logged in, nothing is read              "found"   it is known that something came
"read"     the events are made, nothing is stored  "stored"  the events and the position are committed
"told"     the consumers of events were called
"""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jobs.mail
from core.events.bus import EventBus
from core.mail.watches import MailWatches

POINTS = ("opened", "found", "read", "stored", "told")


def _die_at(point: str) -> None:
    if os.environ.get("KILLS_MAIL") == point:
        os.kill(os.getpid(), signal.SIGKILL)


_mail: Any = jobs.mail
_open, _find, _read = _mail.open_mailbox, _mail.find_new, _mail.read_events
_take, _hurry = MailWatches.take, EventBus.hurry


@asynccontextmanager
async def _opened(*given: Any) -> AsyncIterator[Any]:
    async with _open(*given) as mailbox:
        _die_at("opened")
        yield mailbox


async def _found(*given: Any) -> Any:
    found = await _find(*given)
    if found[0]:
        _die_at("found")
    return found


async def _made(*given: Any) -> Any:
    events = await _read(*given)
    if events:
        _die_at("read")
    return events


async def _taken(self: MailWatches, *given: Any, **named: Any) -> Any:
    new = await _take(self, *given, **named)
    if new.count:
        _die_at("stored")
    return new


async def _hurried(self: EventBus, *given: Any) -> None:
    await _hurry(self, *given)
    _die_at("told")


if "KILLS_MAIL" in os.environ:
    _mail.open_mailbox, _mail.find_new, _mail.read_events = _opened, _found, _made
    MailWatches.take, EventBus.hurry = _taken, _hurried  # type: ignore[method-assign, assignment]
