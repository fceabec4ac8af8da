"""Channels and group conversations: who may decide there that we take part.

Sources: docs.slack.dev, reference/methods/conversations.info (`creator`), users.info, conversations.history, and
reference/events/message: channel_join and group_join, whose `inviter` is missing if somebody joined by themselves.
"""

from core.json_types import JsonObject, objects_in
from core.messaging.messages import Address
from providers.slack.client import SlackApi, next_cursor

JOINED = ("channel_join", "group_join")
_PAGES = 5
"""Pages of 200 messages in which we look for our invitation; an earlier inviter may invite us again."""


async def may_invite(api: SlackApi, group: Address, user_key: str) -> tuple[bool, str]:
    """Return whether a member created the channel, runs the workspace or invited us, and the channel's name.

    Raises `DeliveryError`.
    """
    answer = await api.read("conversations.info", {"channel": group.peer})
    channel = answer.get("channel")
    known = channel if isinstance(channel, dict) else {}
    asked = await api.read("users.info", {"user": user_key})
    user = asked.get("user")
    runs = isinstance(user, dict) and any(user.get(part) is True for part in ("is_admin", "is_owner"))
    may = runs or known.get("creator") == user_key or await _inviter(api, group) == user_key
    return may, _name(known)


async def _inviter(api: SlackApi, group: Address) -> str:
    """Return who invited us last; empty for nobody, and if that was too long ago."""
    us = str((await api.authenticate())[0].get("user_id") or "")
    arguments: JsonObject = {"channel": group.peer, "limit": "200"}
    for _ in range(_PAGES):
        page = await api.call("conversations.history", arguments, get=True)
        for message in objects_in(page.get("messages")):
            if message.get("subtype") in JOINED and message.get("user") == us:
                return str(message.get("inviter") or "")
        cursor = next_cursor(page)
        if cursor is None:
            break
        arguments["cursor"] = cursor
    return ""


def _name(channel: JsonObject) -> str:
    """Return a channel's name, or the members of a group conversation, such as mpdm-ada--grace--valet-1."""
    name = str(channel.get("name") or "")
    if channel.get("is_mpim") is not True:
        return name
    return ", ".join(name.removeprefix("mpdm-").rpartition("-")[0].split("--")) or name
