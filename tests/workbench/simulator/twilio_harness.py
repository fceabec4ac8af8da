"""What the tests of the emulated Twilio share."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web

from tests.workbench.simulator.conftest import PUBLIC_URL, TWILIO
from workbench.simulator.app import Simulator
from workbench.simulator.journal import Json

# The official library still authenticates in the way that aiohttp 3.14 warns of.
MARKS = [
    pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'auth' parameter is deprecated:DeprecationWarning"),
]

OURS, ADA, GRACE = TWILIO.number, "+14155550101", "+14155550102"
AUTH = {"Authorization": aiohttp.encode_basic_auth(TWILIO.account_sid, TWILIO.auth_token)}
STATUS_URL = PUBLIC_URL + "/webhooks/sms/status?out=o1"
HOOK = "/webhooks/sms"


async def say(simulator: Simulator, text: str, person: str = "ada", **more: Json) -> dict[str, Json]:
    sent = await simulator.providers["twilio"].act(person, "say", {"text": text, "wait": True, **more})
    assert isinstance(sent, dict)
    return sent


def person_of(simulator: Simulator, key: str = "ada") -> dict[str, Any]:
    state = cast(dict[str, Any], simulator.providers["twilio"].state())
    return cast(dict[str, Any], state["people"][key])


def bubbles(simulator: Simulator, key: str = "ada") -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], person_of(simulator, key)["bubbles"])


def debugger(simulator: Simulator) -> list[tuple[int, str]]:
    entries = cast(dict[str, Any], simulator.providers["twilio"].state())["debugger"]
    return [(entry["code"], entry["detail"]) for entry in entries]


def answering(status: int = 200, body: str = "", kind: str = "text/xml") -> Callable[..., Awaitable[web.Response]]:
    async def respond(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body, content_type=kind)

    return respond
