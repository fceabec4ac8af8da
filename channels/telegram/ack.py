"""answerCallbackQuery: stop the button's spinner at once. It acknowledges and nothing else."""

import structlog
from telegram.error import TelegramError

from channels.telegram.client import TelegramApi, describe
from channels.telegram.parse import ButtonPress

_log = structlog.get_logger()


async def acknowledge(api: TelegramApi, press: ButtonPress, text: str = "") -> None:
    """Answer a press; `text` (at most 200 characters) is shown for a moment.

    Never raises for it: a press older than a minute can no longer be answered, and what was decided stands.
    """
    try:
        await api.bot.answer_callback_query(press.id, text=text[:200] or None)
    except TelegramError as error:
        _log.info("press_not_acknowledged", reason=describe(error))
