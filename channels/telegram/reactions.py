"""From a change of a message's reactions to our inbound types; pure.

Source of the shapes: core.telegram.org/bots/api#messagereactionupdated and #reactiontype. It names all reactions of a
person before and after; Telegram sends none that a bot has set.
"""

from channels.fields import object_at, text_at
from channels.telegram.fields import integer_at, moment, required_text_at
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.messaging.emoji import plain_emoji
from core.messaging.inbound import Inbound, Reaction
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason


def read_reaction(change: JsonObject, key: str, account: str) -> Inbound:
    """Return the meaning of a change of reactions. Raises `RequestRefused` if it is malformed."""
    chat = object_at(change, "chat")
    peer, kind = str(integer_at(chat, "id")), required_text_at(chat, "type")
    message = str(integer_at(change, "message_id", at_least=0))
    before, after = _emoji(change, "old_reaction"), _emoji(change, "new_reaction")
    user = object_at(change, "user") if "user" in change else {}  # an anonymous reaction names a chat instead
    sender = str(integer_at(user, "id", at_least=1)) if user else ""
    address = Address("telegram", account, peer)
    if reason := _reason(user, sender, kind, peer):
        return IgnoredMessage(address, sender, (key,), reason)
    return Reaction(
        address,
        sender,
        (key,),
        added=tuple(emoji for emoji in after if emoji not in before),
        removed=tuple(emoji for emoji in before if emoji not in after),
        message=message,
        at=moment(integer_at(change, "date", at_least=0)),
    )


def _reason(user: JsonObject, sender: str, kind: str, peer: str) -> IgnoreReason | None:
    """Return why a reaction is not its person's in their own chat, None if it is."""
    if kind != "private":
        return IgnoreReason.GROUP
    if user.get("is_bot") is True:
        return IgnoreReason.BOT
    return None if sender == peer else IgnoreReason.REACTION


def _emoji(change: JsonObject, name: str) -> tuple[str, ...]:
    """Return the emoji of a list of reactions; custom and paid reactions have none."""
    reactions = change.get(name)
    if not isinstance(reactions, list):
        raise RequestRefused(f"{name} is not a list")
    kinds = [item for item in reactions if isinstance(item, dict)]
    return tuple(plain_emoji(text_at(item, "emoji")) for item in kinds if text_at(item, "type") == "emoji")
