"""The way out over Telegram: one part, one call, one receipt; plain where the formatting is refused."""

import zlib
from collections.abc import Awaitable, Callable
from datetime import datetime

import structlog
from telegram import InlineKeyboardMarkup, LinkPreviewOptions, Message, MessageEntity, ReplyParameters
from telegram.constants import ChatAction
from telegram.error import BadRequest, ChatMigrated, TelegramError

from core.channel import Part, Receipt, Target
from core.errors import Ambiguous, Rejected, Unavailable
from core.json_types import Json
from core.messages import Address, OutboundKind, OutboundMessage
from notify.telegram.client import CONNECT_SECONDS, READ_SECONDS, REAL_API_URL, TelegramSender
from notify.telegram.faults import brief, refuses_formatting, refuses_keyboard, to_delivery_error
from notify.telegram.render import render

_log = structlog.get_logger()

DRAFT_EVERY = 1.0
"""Seconds between drafts: about one message a second may go to a chat (core.telegram.org/bots/faq)."""

type Call = Callable[[int], Awaitable[Message]]


class TelegramNotification:
    """Send from one bot. Bots cannot read their history, so a part whose answer was lost is sent again.

    `connect_seconds` and `read_seconds` bound each call.
    """

    name = "telegram"
    can_find = False
    resend_unknown = True
    draft_every = DRAFT_EVERY

    def __init__(
        self,
        *,
        bot_token: str,
        api_url: str = REAL_API_URL,
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._sender = TelegramSender(bot_token=bot_token, api_url=api_url, connect=connect_seconds, read=read_seconds)

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        """Turn a message into parts of at most 4,096 UTF-16 units."""
        return render(message)

    async def send(self, part: Part, to: Target) -> Receipt:
        """Hand one part to Telegram. Raises `DeliveryError`."""
        try:
            return await self._send(part, to)
        except TelegramError as error:
            raise to_delivery_error(error) from error
        except (KeyError, TypeError, AttributeError) as error:
            # It was a success, but what it says cannot be read.
            raise Ambiguous(f"answer cannot be read: {type(error).__name__}") from error

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        """Never tell: the Bot API has no way to look. Raises `Unavailable`."""
        raise Unavailable("bots cannot read their history")

    async def show_working(self, to: Address) -> None:
        """Show that we type, for five seconds."""
        try:
            await self._sender.bot.send_chat_action(_number(to.peer), ChatAction.TYPING, message_thread_id=_thread(to))
        except (TelegramError, Rejected) as error:
            _log.info("working_not_shown", channel=self.name, cause=type(error).__name__)

    async def show_draft(self, to: Address, text: str, draft_id: str) -> None:
        """Show the text so far, of a long one its end, for half a minute. Raises `DeliveryError`."""
        if not text.strip():
            return
        # A whole number that is not zero (core.telegram.org/bots/api#sendmessagedraft), the same for the same turn.
        number = zlib.crc32(draft_id.encode()) or 1
        part = render(OutboundMessage(draft_id, OutboundKind.REPLY, text))[-1]
        entities = _entities(part.data.get("entities"))
        try:
            await self._sender.bot.send_message_draft(
                _number(to.peer), number, part.text, entities=entities, message_thread_id=_thread(to)
            )
        except TelegramError as error:
            raise to_delivery_error(error) from error

    async def close(self) -> None:
        """Release connections."""
        await self._sender.close()

    async def _send(self, part: Part, to: Target) -> Receipt:
        media = part.data.get("media")
        if isinstance(media, dict):
            try:
                return await _following(self._media_call(part, to, media), to)
            except BadRequest as error:
                # Telegram cannot fetch it, or it is none of its kinds: the person gets its address.
                _log.info("file_sent_as_text", channel=self.name, ref=to.ref, cause=brief(error))
                return await _following(self._text_call(part, to, entities=False, keyboard=False), to, degraded=True)
        try:
            return await _following(self._text_call(part, to), to)
        except BadRequest as error:
            if part.data.get("entities") and refuses_formatting(error):
                call = self._text_call(part, to, entities=False)
            elif part.data.get("keyboard") and refuses_keyboard(error):
                call = self._text_call(part, to, keyboard=False)  # the codes in the text still answer a card
            else:
                raise
            _log.warning("formatting_refused", channel=self.name, ref=to.ref, cause=brief(error))
            return await _following(call, to, degraded=True)

    def _text_call(self, part: Part, to: Target, *, entities: bool = True, keyboard: bool = True) -> Call:
        found = _entities(part.data.get("entities")) if entities else None
        buttons = _keyboard(part.data.get("keyboard")) if keyboard else None

        async def call(chat: int) -> Message:
            return await self._sender.bot.send_message(
                chat,
                part.text,
                entities=found,
                reply_markup=buttons,
                message_thread_id=_thread(to.address),
                reply_parameters=_reply(to),
                # A preview would make Telegram fetch every address that we mention.
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )

        return call

    def _media_call(self, part: Part, to: Target, media: dict[str, Json]) -> Call:
        source = str(media.get("source", ""))

        async def call(chat: int) -> Message:
            bot, thread, reply = self._sender.bot, _thread(to.address), _reply(to)
            if media.get("kind") == "photo":
                return await bot.send_photo(chat, source, message_thread_id=thread, reply_parameters=reply)
            return await bot.send_document(chat, source, message_thread_id=thread, reply_parameters=reply)

        return call


async def _following(call: Call, to: Target, *, degraded: bool = False) -> Receipt:
    """Make the call, once more where the chat has moved to."""
    try:
        message = await call(_number(to.address.peer))
        return Receipt(provider_id=str(message.message_id), degraded=degraded)
    except ChatMigrated as error:
        moved_to = error.new_chat_id
    try:
        message = await call(moved_to)
    except ChatMigrated as error:
        raise Unavailable("the chat moves on and on") from error
    return Receipt(provider_id=str(message.message_id), moved_to=str(moved_to), degraded=degraded)


def _number(peer: str) -> int:
    try:
        return int(peer)
    except ValueError:
        raise Rejected("the address is no chat id") from None


def _thread(to: Address) -> int | None:
    return int(to.thread) if to.thread.isascii() and to.thread.isdigit() else None


def _reply(to: Target) -> ReplyParameters | None:
    if not (to.reply_to.isascii() and to.reply_to.isdigit()):
        return None
    return ReplyParameters(int(to.reply_to), allow_sending_without_reply=True)


def _entities(value: Json) -> list[MessageEntity] | None:
    if not isinstance(value, list):
        return None
    return [MessageEntity.de_json(item, None) for item in value if isinstance(item, dict)] or None


def _keyboard(value: Json) -> InlineKeyboardMarkup | None:
    if not isinstance(value, list) or not value:
        return None
    return InlineKeyboardMarkup.de_json({"inline_keyboard": value}, None)
