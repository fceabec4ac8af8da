"""A Telegram update as Telegram sends it, the pieces to spoil it with, and a sink that remembers."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from channels.http.app import build_app, serve
from channels.telegram.receive import TelegramChannel
from core.db.database import Database
from tests.channels.memory_sink import MemorySink

TOKEN = "7000000001:AAsimulator-telegram-token-0123456789"
SECRET = "a-Secret_that-only-Telegram-knows"
BOT_ID = 7000000001
PERSON = 700100001
PUBLIC_URL = "https://valet.example.com"
PATH = "/webhooks/telegram"
HEADER = "X-Telegram-Bot-Api-Secret-Token"
NOWHERE = "http://127.0.0.1:9"

type Json = dict[str, Any]


def message(**changes: Any) -> Json:
    """Return a text in a private chat, some fields replaced, added, or (None) left out."""
    content = {
        "message_id": 17,
        "from": {"id": PERSON, "is_bot": False, "first_name": "Ada", "last_name": "Lovelace", "language_code": "en"},
        "chat": {"id": PERSON, "type": "private", "first_name": "Ada", "last_name": "Lovelace"},
        "date": 1_790_000_000,
        "text": "Lunch on Friday?",
        **changes,
    }
    return {name: value for name, value in content.items() if value is not None}


def update(update_id: int = 501, **kinds: Any) -> Json:
    """Return an update, a text unless told otherwise."""
    return {"update_id": update_id, **(kinds or {"message": message()})}


def command(text: str, length: int | None = None) -> Json:
    """Return a text that begins with a command, marked as Telegram marks it."""
    size = len(text.split()[0]) if length is None else length
    return update(message=message(text=text, entities=[{"type": "bot_command", "offset": 0, "length": size}]))


def press(data: str = "token", number: str = "4382", **changes: Any) -> Json:
    """Return a press on a button, some fields replaced, added, or (None) left out."""
    bot = {"id": BOT_ID, "is_bot": True, "first_name": "Valet"}
    query = {
        "id": number,
        "from": message()["from"],
        "message": message(message_id=18, text="Approve?", **{"from": bot}),
        "chat_instance": "-3",
        "data": data,
        **changes,
    }
    return update(callback_query={name: value for name, value in query.items() if value is not None})


def membership(status: str, kind: str = "private") -> Json:
    """Tell that the bot was let in or thrown out."""
    chat = {"id": PERSON, "type": "private"} if kind == "private" else {"id": -100500, "type": kind, "title": "Us"}
    user = {"id": BOT_ID, "is_bot": True, "first_name": "Valet"}
    return update(
        my_chat_member={
            "chat": chat,
            "from": message()["from"],
            "date": 1_790_000_000,
            "old_chat_member": {"status": "member", "user": user},
            "new_chat_member": {"status": status, "user": user},
        }
    )


@dataclass
class Gateway:
    """A served application with the Telegram channel in it."""

    port: int
    sink: MemorySink
    session: aiohttp.ClientSession
    channel: TelegramChannel

    async def post(self, body: Json | bytes, *, secret: str = SECRET) -> aiohttp.ClientResponse:
        """Post an update as Telegram does."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.send(raw, headers={HEADER: secret})

    async def send(
        self, body: bytes, *, path: str = PATH, method: str = "POST", headers: dict[str, str]
    ) -> aiohttp.ClientResponse:
        """Send any request."""
        url = f"http://127.0.0.1:{self.port}{path}"
        given = {"Content-Type": "application/json", **headers}
        response = await self.session.request(method, url, data=body, headers=given)
        await response.read()
        return response


def make_channel(
    sink: MemorySink,
    *,
    secret: str = SECRET,
    api_url: str = NOWHERE,
    public_url: str = PUBLIC_URL,
    token: str = TOKEN,
    database: Database | None = None,
) -> TelegramChannel:
    return TelegramChannel(
        bot_token=token,
        webhook_secret=secret,
        api_url=api_url,
        public_url=public_url,
        sink=sink,
        database=database,
    )


@asynccontextmanager
async def serve_channel(channel: TelegramChannel, sink: MemorySink) -> AsyncIterator[Gateway]:
    app = build_app([channel], ready=_ready)
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        yield Gateway(port, sink, session, channel)
    await channel.stop()


async def _ready() -> bool:
    return True
