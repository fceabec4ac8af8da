"""Our values as the arguments of Telegram's calls."""

from telegram import ForceReply, InlineKeyboardMarkup, MessageEntity, ReplyParameters

from core.errors import Rejected
from core.json_types import Json, JsonObject
from core.messaging.channels import Target
from core.messaging.messages import Address


def number(name: str) -> int:
    """Return a chat's or a message's id as a number. Raises `Rejected`."""
    try:
        return int(name)
    except ValueError:
        raise Rejected("the address is no chat id") from None


def thread(to: Address) -> int | None:
    return int(to.thread) if to.thread.isascii() and to.thread.isdigit() else None


def reply(to: Target) -> ReplyParameters | None:
    """Return the reference to the answered message; if that was deleted, the reply is sent anyway."""
    if not (to.reply_to.isascii() and to.reply_to.isdigit()):
        return None
    return ReplyParameters(int(to.reply_to), allow_sending_without_reply=True)


def entities_of(value: Json) -> list[MessageEntity] | None:
    """Return a rendered part's marks."""
    if not isinstance(value, list):
        return None
    return [MessageEntity.de_json(item, None) for item in value if isinstance(item, dict)] or None


def markup_of(data: JsonObject) -> InlineKeyboardMarkup | ForceReply | None:
    """Return a rendered part's buttons, or the request for a reply: a message cannot have both."""
    rows = data.get("keyboard")
    if isinstance(rows, list) and rows:
        return InlineKeyboardMarkup.de_json({"inline_keyboard": rows}, None)
    placeholder = data.get("force_reply")
    return ForceReply(selective=True, input_field_placeholder=placeholder) if isinstance(placeholder, str) else None
