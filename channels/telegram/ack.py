"""answerCallbackQuery: stop the button's spinner at once. It acknowledges and nothing else."""

import structlog
from telegram.error import TelegramError

from channels.telegram.client import TelegramApi, describe

MAX_SAID = 200

_log = structlog.get_logger()


async def acknowledge(api: TelegramApi, query: str, text: str = "") -> None:
    """Answer a press by its query's id; `text` (at most 200 characters) is shown for a moment.

    Never raises for it: a press older than a minute can no longer be answered, and what was decided stands.
    """
    try:
        await api.bot.answer_callback_query(query, text=_shortened(text) or None)
    except TelegramError as error:
        _log.info("press_not_acknowledged", reason=describe(error))


def _shortened(text: str) -> str:
    """Cut a text to what Telegram shows; UTF-16 units are counted, of which there are never fewer than characters."""
    kept, used = "", 0
    for letter in text:
        used += 1 if ord(letter) < 0x10000 else 2
        if used > MAX_SAID:
            return kept
        kept += letter
    return kept
