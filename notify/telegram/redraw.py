"""A sent part redrawn: its text, without closing and buttons, and the outcome beneath."""

from telegram import Bot, LinkPreviewOptions
from telegram.error import BadRequest

from core.errors import Rejected
from core.messaging.channels import Part
from notify.closing import without_closing
from notify.telegram.arguments import entities_of
from notify.telegram.text import clean, is_visible
from notify.text_split import shorten
from providers.telegram.errors import is_unchanged, refuses_formatting
from providers.telegram.wire import MAX_UNITS
from providers.utf16 import units

MAX_OUTCOME = 300
SHORTEST = 12
"""If less room is left for the outcome, only the buttons go."""

_GAP = "\n\n"


async def redraw(bot: Bot, part: Part, chat: int, message: int, line: str) -> None:
    """Change a sent text; changing it to the same succeeds. No word of the part is ever left out for the outcome.

    Raises PTB's errors, and `Rejected` for a file, which has no text to change.
    """
    if "media" in part.data or part.file is not None:
        raise Rejected("a file has no text to redraw")
    text = without_closing(part)
    room = min(MAX_OUTCOME, MAX_UNITS - units(text) - units(_GAP))
    below = shorten(" ".join(clean(line).split()), room, units) if room >= SHORTEST else ""
    drawn = _GAP.join(piece for piece in (text, below) if is_visible(piece)) or part.text
    try:
        await _draw(bot, part, chat, message, drawn, entities=True)
    except BadRequest as error:
        if not (part.data.get("entities") and refuses_formatting(error)):
            raise
        await _draw(bot, part, chat, message, drawn, entities=False)


async def _draw(bot: Bot, part: Part, chat: int, message: int, drawn: str, *, entities: bool) -> None:
    try:
        if drawn == part.text:
            await bot.edit_message_reply_markup(chat, message, reply_markup=None)
            return
        await bot.edit_message_text(
            drawn,
            chat_id=chat,
            message_id=message,
            entities=entities_of(part.data.get("entities")) if entities else None,
            link_preview_options=LinkPreviewOptions(is_disabled=True),
        )
    except BadRequest as error:
        if not is_unchanged(error):
            raise
