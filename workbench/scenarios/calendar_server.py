"""An empty calendar for a scenario: Radicale on this machine, with a single person's account."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp

from core.json_types import JsonObject
from onevalet.servers.port import free_port
from workbench.scenarios.steps import ScenarioError

SERVICE = "caldav"
_STARTS_WITHIN = 60.0
_USER, _PASSWORD = "ada", "simulated"  # on this machine, for as long as the scenario
_LOGIN = aiohttp.BasicAuth(_USER, _PASSWORD)
CONFIG = """\
[server]
hosts = 127.0.0.1:{port}
[auth]
type = htpasswd
htpasswd_filename = {users}
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = {data}
[web]
type = none
[logging]
level = warning
"""
"""Radicale on this machine; it takes `port`, the file of `users`, and the folder of `data`."""
CALENDAR = """\
<?xml version="1.0" encoding="utf-8"?>
<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>
<D:displayname>{name}</D:displayname>
<C:supported-calendar-component-set><C:comp name="VEVENT"/></C:supported-calendar-component-set>
</D:prop></D:set></C:mkcalendar>
"""
"""The body of a MKCALENDAR (RFC 4791, 5.3.1); it takes a `name`."""


@asynccontextmanager
async def serve_calendar(folder: Path) -> AsyncIterator[str]:
    """Serve a calendar with its data in a folder; yield host and port. Raises `ScenarioError` if it cannot."""
    users, config, port = folder / "users", folder / "radicale", free_port()
    users.write_text(f"{_USER}:{_PASSWORD}\n")
    config.write_text(CONFIG.format(port=port, users=users, data=folder / "calendar"))
    command = (sys.executable, "-m", "radicale", "--config", str(config))
    process = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=DEVNULL)
    try:
        await _make_calendar(process, port)
        yield f"127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def account_at(place: str) -> JsonObject:
    """Return the credentials of the account at a server."""
    return {"user": _USER, "password": _PASSWORD, "caldav": f"http://{place}/"}


async def _make_calendar(process: Process, port: int) -> None:
    """Make the person's calendar, as soon as the server answers."""
    url = f"http://127.0.0.1:{port}/{_USER}/calendar/"
    with suppress(TimeoutError):
        async with asyncio.timeout(_STARTS_WITHIN), aiohttp.ClientSession(auth=_LOGIN) as http:
            while process.returncode is None:
                with suppress(aiohttp.ClientError):  # it does not listen yet
                    async with http.request("MKCALENDAR", url, data=CALENDAR.format(name="Calendar")) as answer:
                        if answer.status == 201:
                            return
                await asyncio.sleep(0.1)
    raise ScenarioError("The calendar's server does not start: `radicale` is missing, or cannot run.")
