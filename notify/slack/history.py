"""The latest messages of a conversation, read to look up a message whose answer was lost."""

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from core.errors import Unavailable
from core.json_types import JsonObject
from core.messaging.messages import Address
from providers.slack.client import SlackApi, next_cursor

SKEW = timedelta(minutes=1)
"""How far Slack's clock may be off ours; a part's ref is unique, so looking further back harms nothing."""
SCAN_PAGES = 5


def earliest(since: datetime, stream: str | None = None) -> str:
    """Return the ts from which a look-up has to read; a streamed message is older than its last words."""
    first = (since.astimezone(UTC) - SKEW).timestamp()
    if stream:
        with suppress(ValueError):  # no ts of Slack's: as old as its part
            first = min(first, float(stream) - 1)
    return f"{first:.6f}"


async def said_since(client: SlackApi, where: Address, oldest: str) -> AsyncIterator[JsonObject]:
    """Yield the messages since then. Raises `DeliveryError`, also if there are more than the limit."""
    method = "conversations.replies" if where.thread else "conversations.history"
    arguments: JsonObject = {
        "channel": where.peer,
        "oldest": oldest,
        "include_all_metadata": "true",
        "limit": "200",
    }
    if where.thread:
        arguments["ts"] = where.thread
    for _ in range(SCAN_PAGES):
        page = await client.call(method, arguments, get=True)
        messages = page.get("messages")
        if not isinstance(messages, list):
            raise Unavailable("history has no messages")
        for message in messages:
            if isinstance(message, dict):
                yield message
        cursor = next_cursor(page)
        if cursor is None:
            return
        arguments["cursor"] = cursor
    raise Unavailable("history is longer than what is read")
