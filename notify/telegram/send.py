"""The way out over Telegram: a call and a receipt for each part; plain text if the formatting is refused."""

import zlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from telegram import LinkPreviewOptions, Message, ReactionTypeEmoji
from telegram.constants import ChatAction
from telegram.error import BadRequest, ChatMigrated, TelegramError

from core.errors import Ambiguous, Rejected, Unavailable
from core.json_types import Json
from core.messaging.capabilities import Reached
from core.messaging.channels import Part, Receipt, Target
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Media, OutboundMessage
from notify.telegram import redraw, uploads
from notify.telegram.arguments import entities_of, markup_of, number, reply, thread
from notify.telegram.erase import WITHIN, erase
from notify.telegram.render import render, render_end
from providers.telegram.client import CONNECT_SECONDS, READ_SECONDS, TelegramApi
from providers.telegram.errors import brief, refuses_file, refuses_formatting, refuses_keyboard, to_delivery_error
from providers.telegram.wire import REAL_API_URL

_log = structlog.get_logger()

DRAFT_EVERY = 1.0
"""Seconds between drafts: a chat takes about one message a second (core.telegram.org/bots/faq)."""

type Call = Callable[[int], Awaitable[Message]]


class TelegramNotification:
    """Send from a bot. Bots cannot read their history, so a part whose answer was lost is sent again.

    `connect_seconds` and `read_seconds` bound each call.
    """

    name = "telegram"
    shows_buttons = True
    plays = "audio/ogg"
    takes_places = True
    can_find = False
    resend_unknown = True
    draft_every = DRAFT_EVERY
    erases_theirs = True
    erases_within: timedelta | None = WITHIN

    def __init__(
        self,
        *,
        bot_token: str,
        api_url: str = REAL_API_URL,
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._account = bot_token.partition(":")[0]
        self._api = TelegramApi(bot_token=bot_token, api_url=api_url, connect=connect_seconds, read=read_seconds)

    async def reach(self, key: str) -> Reached:
        """Return the private chat with a user who has started the bot: no bot knows another."""
        chat = number(key)
        if chat <= 0:
            raise Rejected("a group is nobody")
        try:
            name = await self._api.get_name(chat)
        except TelegramError as error:
            raise to_delivery_error(error) from error
        return Reached(Address(self.name, self._account, key), key, name)

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message)

    async def send(self, part: Part, to: Target) -> Receipt:
        try:
            return await self._send(part, to)
        except TelegramError as error:
            raise to_delivery_error(error) from error
        except (KeyError, TypeError, AttributeError) as error:
            # It was a success, but the answer cannot be read.
            raise Ambiguous(f"answer cannot be read: {type(error).__name__}") from error

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        raise Unavailable("bots cannot read their history")

    async def show_working(self, to: Address) -> None:
        try:
            await self._api.bot.send_chat_action(number(to.peer), ChatAction.TYPING, message_thread_id=thread(to))
        except (TelegramError, Rejected) as error:
            _log.info("working_not_shown", channel=self.name, cause=type(error).__name__)

    async def show_draft(self, to: Address, text: str, draft_id: str) -> None:
        if not text.strip():
            return
        # A whole number that is not zero (core.telegram.org/bots/api#sendmessagedraft), the same for the same turn.
        draft = zlib.crc32(draft_id.encode()) or 1
        part = render_end(text)  # Telegram shows it for half a minute
        entities = entities_of(part.data.get("entities"))
        try:
            await self._api.bot.send_message_draft(
                number(to.peer), draft, part.text, entities=entities, message_thread_id=thread(to)
            )
        except TelegramError as error:
            raise to_delivery_error(error) from error

    async def redraw(self, part: Part, provider_id: str, to: Address, line: str) -> None:
        try:
            await redraw.redraw(self._api.bot, part, number(to.peer), number(provider_id), line)
        except ChatMigrated as error:
            raise Rejected("the chat moved, and its messages with it") from error
        except TelegramError as error:
            raise to_delivery_error(error) from error

    async def react(self, to: Address, message: str, emoji: str) -> None:
        try:
            await self._api.bot.set_message_reaction(number(to.peer), number(message), [ReactionTypeEmoji(emoji)])
        except TelegramError as error:
            raise to_delivery_error(error) from error

    async def erase(self, to: Address, provider_id: str) -> bool:
        try:
            return await erase(self._api.bot, number(to.peer), number(provider_id))
        except TelegramError as error:
            raise to_delivery_error(error) from error

    async def may_invite(self, group: Address, user_key: str) -> tuple[bool, str]:
        """Return whether a member runs the group: core.telegram.org/bots/api#chatmember."""
        try:
            status = await self._api.get_status(number(group.peer), number(user_key))
            return status in ("creator", "administrator"), ""
        except TelegramError as error:
            raise to_delivery_error(error) from error

    async def close(self) -> None:
        await self._api.close()

    def carries(self, file: Media, to: Address) -> bool:
        return uploads.carries(file)

    async def _send_file(self, part: Part, to: Target, file: OutgoingFile) -> Receipt:
        data = await to.content_of(file)
        if data is None:
            return await _following(self._text_call(replace(part, text=file.gone), to), to, degraded=True)
        try:
            return await _following(uploads.upload(self._api.bot, file, data, to), to)
        except BadRequest as error:
            if not refuses_file(error):
                raise
            _log.warning("file_sent_as_text", channel=self.name, ref=to.ref, cause=brief(error))
        return await _following(self._text_call(part, to), to, degraded=True)

    async def _send(self, part: Part, to: Target) -> Receipt:
        if part.file is not None:
            return await self._send_file(part, to, part.file)
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
            elif markup_of(part.data) and refuses_keyboard(error):
                call = self._text_call(part, to, keyboard=False)  # the codes in the text still answer a card
            else:
                raise
            _log.warning("formatting_refused", channel=self.name, ref=to.ref, cause=brief(error))
            return await _following(call, to, degraded=True)

    def _text_call(self, part: Part, to: Target, *, entities: bool = True, keyboard: bool = True) -> Call:
        marks = entities_of(part.data.get("entities")) if entities else None
        buttons = markup_of(part.data) if keyboard else None

        async def call(chat: int) -> Message:
            return await self._api.bot.send_message(
                chat,
                part.text,
                entities=marks,
                reply_markup=buttons,
                message_thread_id=thread(to.address),
                reply_parameters=reply(to),
                # A preview would make Telegram fetch every address that we mention.
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )

        return call

    def _media_call(self, part: Part, to: Target, media: dict[str, Json]) -> Call:
        source = str(media.get("source", ""))

        async def call(chat: int) -> Message:
            bot, topic, answered = self._api.bot, thread(to.address), reply(to)
            if media.get("kind") == "photo":
                return await bot.send_photo(chat, source, message_thread_id=topic, reply_parameters=answered)
            return await bot.send_document(chat, source, message_thread_id=topic, reply_parameters=answered)

        return call


async def _following(call: Call, to: Target, *, degraded: bool = False) -> Receipt:
    """Make the call; if the chat has moved, once more at its new id."""
    try:
        message = await call(number(to.address.peer))
        return Receipt(provider_id=str(message.message_id), degraded=degraded)
    except ChatMigrated as error:
        moved_to = error.new_chat_id
    try:
        message = await call(moved_to)
    except ChatMigrated as error:
        raise Unavailable("the chat moves on and on") from error
    return Receipt(provider_id=str(message.message_id), moved_to=str(moved_to), degraded=degraded)
