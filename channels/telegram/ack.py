"""answerCallbackQuery: stop the button's spinner at once. It acknowledges and nothing else."""

import structlog
from telegram.error import TelegramError

from providers.telegram.client import TelegramApi
from providers.telegram.errors import describe
from providers.utf16 import first_units

MAX_NOTE = 200
"""In UTF-16 units, of which there are never fewer than characters (core.telegram.org/bots/api#answercallbackquery)."""

_log = structlog.get_logger()


async def acknowledge(api: TelegramApi, query: str, text: str | None = None) -> None:
    """Answer a press by its query's id; `text` (at most 200 characters) is shown for a moment.

    Never raises: a press older than a minute can no longer be answered, and its decision stands.
    """
    try:
        await api.bot.answer_callback_query(query, text=first_units(text, MAX_NOTE) if text else None)
    except TelegramError as error:
        _log.info("press_not_acknowledged", reason=describe(error))
