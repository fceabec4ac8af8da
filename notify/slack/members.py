"""The members of our workspace, who can be written to in a direct message.

Sources: docs.slack.dev, reference/methods/users.lookupByEmail (it needs `users:read.email`), users.info,
conversations.open.
"""

import re

from core.errors import Rejected
from core.json_types import JsonObject
from core.messaging.capabilities import Reached
from core.messaging.messages import Address
from providers.slack.client import SlackApi
from providers.slack.wire import CHANNEL_NAME

_MEMBER = re.compile(r"[UW][0-9A-Z]{4,20}")


async def reach(api: SlackApi, key: str) -> Reached:
    """Return the direct conversation with a member, by their id or mail address. Raises `DeliveryError`."""
    team = str((await api.authenticate())[0].get("team_id") or "")
    if "@" in key:
        answer = await api.call("users.lookupByEmail", {"email": key}, get=True)
    elif _MEMBER.fullmatch(key):
        answer = await api.call("users.info", {"user": key}, get=True)
    else:
        raise Rejected("no id of a member, nor a mail address")
    user = _object(answer, "user")
    if user.get("deleted") or user.get("is_bot") or user.get("team_id", team) != team:
        raise Rejected("no member who reads messages here", "user_not_found")
    member = str(user.get("id") or "")
    opened = _object(await api.call("conversations.open", {"users": member}), "channel")
    return Reached(Address(CHANNEL_NAME, team, str(opened.get("id") or "")), member, str(user.get("real_name") or ""))


def _object(answer: JsonObject, name: str) -> JsonObject:
    found = answer.get(name)
    if not isinstance(found, dict):
        raise Rejected(f"the answer has no {name}")
    return found
