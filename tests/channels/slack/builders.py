"""Slack's requests as Slack sends them, the pieces to spoil them with, and a sink that remembers."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from channels.http.app import build_app, serve
from channels.slack.receive import SlackChannel
from channels.slack.verify import sign
from core.messaging.channels import Sweep
from tests.channels.memory_sink import MemorySink

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
BOT_TOKEN = "xoxb-secret-bot-token"
TEAM, APP, PERSON, DM = "T0TEAM0001", "A0APP00001", "U0PERSON01", "D0DIRECT01"
TS = "1794650000.000100"
SAID = "Lunch on Friday?"
PATH = "/webhooks/slack"
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"

type Obj = dict[str, Any]


def message(**changes: Any) -> Obj:
    """Return a message event as a person's direct message makes it; None removes a field."""
    event = {
        "type": "message",
        "channel": DM,
        "channel_type": "im",
        "user": PERSON,
        "text": SAID,
        "ts": TS,
        "event_ts": TS,
        "team": TEAM,
        "client_msg_id": "7a1e8ad8-4b4b-4b4b-8b8b-2f2f2f2f2f2f",
        **changes,
    }
    return {name: value for name, value in event.items() if value is not None}


def envelope(event: Obj | None = None, **changes: Any) -> Obj:
    """Wrap an event as the Events API does; None removes a field."""
    body = {
        "token": "verification",
        "team_id": TEAM,
        "api_app_id": APP,
        "event": message() if event is None else event,
        "type": "event_callback",
        "event_id": "Ev0EVENT001",
        "event_time": 1794650000,
        "authorizations": [{"enterprise_id": None, "team_id": TEAM, "user_id": "U0BOT00001", "is_bot": True}],
        **changes,
    }
    return {name: value for name, value in body.items() if value is not None}


def press(**changes: Any) -> Obj:
    """Return a block_actions payload."""
    payload = {
        "type": "block_actions",
        "user": {"id": PERSON, "team_id": TEAM},
        "api_app_id": APP,
        "team": {"id": TEAM, "domain": "team"},
        "container": {"type": "message", "message_ts": TS, "channel_id": DM, "is_ephemeral": False},
        "trigger_id": "1.2.3",
        "response_url": "https://hooks.slack.com/actions/secret",
        "actions": [{"type": "button", "action_id": "choice_0", "value": "tok_1", "action_ts": "1794650001.000200"}],
        **changes,
    }
    return {name: value for name, value in payload.items() if value is not None}


def submission(**changes: Any) -> Obj:
    """Return a view_submission payload."""
    view = {
        "id": "V0VIEW0001",
        "type": "modal",
        "hash": "1794650000.abcdef",
        "callback_id": "onevalet_form",
        "private_metadata": "tok_2",
        "state": {"values": {"when": {"when": {"type": "plain_text_input", "value": "3pm"}}}},
    }
    payload = {
        "type": "view_submission",
        "user": {"id": PERSON, "team_id": TEAM},
        "api_app_id": APP,
        "team": {"id": TEAM},
        "trigger_id": "1.2.3",
        "view": view,
        **changes,
    }
    return {name: value for name, value in payload.items() if value is not None}


def command(**changes: Any) -> Obj:
    """Return a slash command's fields."""
    fields = {
        "token": "verification",
        "team_id": TEAM,
        "channel_id": DM,
        "channel_name": "directmessage",
        "user_id": PERSON,
        "command": "/valet",
        "text": "new",
        "api_app_id": APP,
        "response_url": "https://hooks.slack.com/commands/secret",
        "trigger_id": "11.22.abc",
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not None}


def proof(body: bytes, *, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
    """Return the two headers that Slack sends with a body."""
    stamp = str(int(time.time() if at is None else at))
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": sign(secret, body, stamp)}


class Remembered(Sweep):
    """A sweep that remembers its place."""

    async def reached(self, place: str) -> None:
        """Remember it."""
        self.place = place


@dataclass
class Gateway:
    """A served application with the Slack channel in it."""

    port: int
    sink: MemorySink
    session: aiohttp.ClientSession

    async def post(self, body: Obj, **headers: str) -> aiohttp.ClientResponse:
        """Post JSON as Slack does, signed."""
        raw = json.dumps(body).encode()
        return await self.send(raw, headers={"Content-Type": JSON_TYPE, **proof(raw), **headers})

    async def post_form(self, fields: Obj) -> aiohttp.ClientResponse:
        """Post a form as Slack does, signed."""
        raw = urlencode(fields).encode()
        return await self.send(raw, headers={"Content-Type": FORM_TYPE, **proof(raw)})

    async def interact(self, payload: Obj) -> aiohttp.ClientResponse:
        """Post an interaction as Slack does, signed."""
        return await self.post_form({"payload": json.dumps(payload)})

    async def send(
        self, body: bytes, *, path: str = PATH, method: str = "POST", headers: dict[str, str]
    ) -> aiohttp.ClientResponse:
        """Send any request."""
        url = f"http://127.0.0.1:{self.port}{path}"
        response = await self.session.request(method, url, data=body, headers=headers)
        await response.read()
        return response


def make_channel(sink: MemorySink, **changes: Any) -> SlackChannel:
    """Make a channel whose Slack cannot be reached."""
    values = {"bot_token": BOT_TOKEN, "signing_secret": SECRET, "api_url": "http://127.0.0.1:9/api/", **changes}
    return SlackChannel(**values, sink=sink)


@asynccontextmanager
async def serve_channel(channel: SlackChannel, sink: MemorySink) -> AsyncIterator[Gateway]:
    """Serve a channel that is not started."""
    app = build_app([channel], ready=_ready)
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        yield Gateway(port, sink, session)
    await channel.stop()


async def _ready() -> bool:
    return True
