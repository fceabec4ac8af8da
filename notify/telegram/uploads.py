"""Files to Telegram: as a picture, a voice message or a document, and as a document if either of the first two is
refused.

Source: core.telegram.org/bots/api#sendphoto (10 MB, sides of 10,000 together, 1 to 20), #sendvoice (OGG with OPUS) and
#senddocument (50 MB).
"""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from telegram import Bot, InputFile, Message
from telegram.error import BadRequest

from core.messaging.channels import Target
from core.messaging.files import OutgoingFile
from core.messaging.messages import Media
from notify.telegram.arguments import reply, thread
from providers.telegram.errors import brief, refuses_file
from providers.telegram.wire import MAX_PHOTO, MAX_UPLOAD

_PHOTOS = ("image/jpeg", "image/png", "image/webp")
_OPUS = b"OpusHead"
"""Stands in the first page of an OGG file that is encoded with OPUS (RFC 7845, 5.1)."""
_UPLOAD_SECONDS = 30.0

_log = structlog.get_logger()


def carries(file: Media) -> bool:
    """Return whether Telegram takes a file."""
    return 0 < (file.size or 0) <= MAX_UPLOAD


def upload(bot: Bot, file: OutgoingFile, data: bytes, to: Target) -> Callable[[int], Awaitable[Message]]:
    """Return the call that sends a file to a chat. It raises PTB's errors."""
    content = InputFile(data, filename=file.name)
    options: dict[str, Any] = {
        "message_thread_id": thread(to.address),
        "reply_parameters": reply(to),
        "write_timeout": _UPLOAD_SECONDS,
    }

    async def call(chat: int) -> Message:
        try:
            if file.content_type in _PHOTOS and len(data) <= MAX_PHOTO:
                return await bot.send_photo(chat, content, **options)
            if file.content_type == "audio/ogg" and _OPUS in data[:128]:
                return await bot.send_voice(chat, content, **options)
        except BadRequest as error:
            # Too large a picture in pixels, none at all, or a person who takes no voice messages.
            if not refuses_file(error):
                raise
            _log.info("file_sent_as_document", channel="telegram", ref=to.ref, cause=brief(error))
        # Detection would turn an animation or a sound into a message of another kind, which may be refused in turn.
        return await bot.send_document(chat, content, disable_content_type_detection=True, **options)

    return call
