"""Streamed answers in a thread: Slack's streaming methods, and the final message that replaces a streamed message.

Source: docs.slack.dev, reference/methods/chat.startStream, chat.appendStream, chat.stopStream, chat.update. A message
in the streaming state cannot be updated, and Slack ends that state by itself after some minutes
(github.com/slackapi/python-slack-sdk/issues/1859), after which nothing can be added.
"""

from contextlib import suppress

from core.errors import Ambiguous, DeliveryError, Rejected
from core.json_types import JsonObject
from core.messaging.messages import Address
from providers.slack.client import SlackApi

GONE = "message_not_found"


async def start(client: SlackApi, to: Address) -> str:
    """Begin an empty message in a thread; return its ts. Raises `DeliveryError`."""
    return ts_of(await client.call("chat.startStream", {"channel": to.peer, "thread_ts": to.thread}))


def ts_of(answer: JsonObject) -> str:
    """Return the ts of a posted message. Raises `Ambiguous`: it was posted, but the answer cannot be read."""
    ts = answer.get("ts")
    if not isinstance(ts, str) or not ts:
        raise Ambiguous("answer has no ts")
    return ts


async def append(client: SlackApi, to: Address, stream: str, text: str) -> None:
    await client.call("chat.appendStream", {"channel": to.peer, "ts": stream, "markdown_text": text})


async def complete(client: SlackApi, to: Address, stream: str, content: JsonObject) -> None:
    """Replace the streamed text by the final words; repeatable.

    Raises `DeliveryError`, `Rejected` if the message can no longer hold them.
    """
    # First, so that no streamed word arrives after the final words. Its own failure means nothing: the state may have
    # ended by itself, and a message that still has it refuses the update.
    with suppress(DeliveryError):
        await client.call("chat.stopStream", {"channel": to.peer, "ts": stream})
    await client.call("chat.update", {"channel": to.peer, "ts": stream, **content})


async def erase(client: SlackApi, to: Address, ts: str) -> bool:
    """Delete one of our messages; return False if Slack refuses. Raises `DeliveryError`."""
    try:
        await drop(client, to, ts)
    except Rejected:
        return False
    return True


async def drop(client: SlackApi, to: Address, stream: str) -> None:
    """Delete a message; succeed if it is gone. Raises `DeliveryError`."""
    try:
        await client.call("chat.delete", {"channel": to.peer, "ts": stream})
    except Rejected as error:
        if error.code != GONE:
            raise


def is_empty_stream(message: JsonObject) -> bool:
    """Return whether a bot began this message of a thread and never added a word."""
    return bool(message.get("bot_id")) and not (message.get("text") or message.get("blocks") or message.get("metadata"))
