"""A plugin whose process kills itself around the write of an event; else as `kills`.

    "k03 writing"   before the event is sent to the server    "k03 written"   after the server has taken it

With KILLS_MUTATION=random-uid each try makes an event of its own: the mutation that must make a test fail.
"""

import os
import uuid
from collections.abc import Mapping
from typing import Any

from core.calendar import calendars
from core.dav.client import DavClient
from tests.plugins.kills import DyingOrchestrator as DyingOrchestrator
from tests.plugins.kills import die_at

_write = DavClient._write


async def _dying_write(self: DavClient, url: str, text: str, content_type: str, condition: Mapping[str, str]) -> Any:
    turn = os.environ.get("KILLS_ONLY", "")
    if turn:
        die_at(turn, "writing")
    etag = await _write(self, url, text, content_type, condition)
    if turn:
        die_at(turn, "written")
    return etag


DavClient._write = _dying_write  # type: ignore[method-assign]
if os.environ.get("KILLS_MUTATION") == "random-uid":
    calendars.uid_of = lambda key: uuid.uuid4().hex  # type: ignore[attr-defined]
