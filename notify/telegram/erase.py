"""Deleting a message at Telegram, which it allows within two days, in private chats of both sides' messages."""

import re
from datetime import timedelta

from telegram import Bot
from telegram.error import BadRequest

WITHIN = timedelta(hours=48)
"""core.telegram.org/bots/api#deletemessage."""
_GONE = re.compile("message to delete not found|message identifier is not specified", re.IGNORECASE)
_REFUSED = re.compile("can't be deleted", re.IGNORECASE)


async def erase(bot: Bot, chat: int, message: int) -> bool:
    """Delete a message; return True if it is gone, False if it is too old. Raises `TelegramError`."""
    try:
        return await bot.delete_message(chat, message)
    except BadRequest as error:
        if _GONE.search(error.message):
            return True
        if _REFUSED.search(error.message):
            return False
        raise
