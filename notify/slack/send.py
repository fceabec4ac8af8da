"""The way out over Slack: a message and a receipt for each part; and the lookup if the answer was lost."""

from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from core.errors import DeliveryError, Rejected, Unavailable, Unreachable
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.messaging.capabilities import Reached
from core.messaging.channels import Part, Receipt, Target
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Media, OutboundMessage
from notify.slack import groups, history, redraw, streams, uploads
from notify.slack.markdown import literal_blocks
from notify.slack.marks import WorkingMarks
from notify.slack.members import reach
from notify.slack.render import render
from providers.slack.client import CONNECT_SECONDS, TOTAL_SECONDS, SlackApi
from providers.slack.errors import FORMATTING
from providers.slack.wire import CHANNEL_NAME, REAL_API_URL, escape

EVENT_TYPE = "onevalet_part"
MAX_FALLBACK = 4_000
"""Characters in `text` next to blocks, which notifications show and chat.update takes."""
WORKING = gettext_noop("is thinking…")
STREAM_EVERY = 1.0
"""Seconds between additions to a growing message: chat.appendStream is good for over a hundred in a minute, in a
whole team (docs.slack.dev, apis/web-api/rate-limits, Tier 4)."""
STREAM_LIMIT = 11_000
"""Characters in a growing message; markdown_text takes 12,000 a call, and longer answers come in parts."""

_log = structlog.get_logger()


class SlackNotification:
    """Send messages as a Slack app's bot. `connect_seconds` and `total_seconds` bound each call."""

    name = CHANNEL_NAME
    shows_buttons = True
    plays = "audio/mpeg"
    can_find = True
    resend_unknown = False
    told_after = 25.0
    erases_theirs = False
    erases_within: timedelta | None = None
    stream_every = STREAM_EVERY
    stream_limit = STREAM_LIMIT

    def __init__(
        self,
        *,
        bot_token: str,
        api_url: str = REAL_API_URL,
        connect_seconds: float = CONNECT_SECONDS,
        total_seconds: float = TOTAL_SECONDS,
    ) -> None:
        self._client = SlackApi(bot_token=bot_token, api_url=api_url, connect=connect_seconds, total=total_seconds)
        self._marks = WorkingMarks(self._client)
        self._status_shown = True
        """Whether Slack took the last status: an app that is no assistant has none."""

    async def reach(self, key: str) -> Reached:
        return await reach(self._client, key)

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message)

    async def send(self, part: Part, to: Target) -> Receipt:
        """Post a part, with our id in its metadata. Raises `DeliveryError`.

        If Slack refuses the blocks, the words are sent once more as plain text, above the same buttons. A streamed
        message is replaced by the part, or deleted if it cannot hold it. A file that Slack refuses is replaced by a
        sentence.
        """
        if part.file is not None:
            return await self._send_file(part, to, part.file)
        blocks = _blocks(part)
        if to.stream and (receipt := await self._complete(part, to, to.stream, blocks)):
            return receipt
        if not blocks:
            return await self._post(to, _plain(part))
        try:
            return await self._post(to, {"text": escape(part.text, MAX_FALLBACK), "blocks": blocks})
        except Rejected as error:
            if error.code not in FORMATTING:
                raise
            _log.warning("slack_blocks_refused", ref=to.ref, code=error.code)
        receipt = await self._post_plainly(part, to, blocks)
        return Receipt(receipt.provider_id, degraded=True)

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        oldest = history.earliest(since, to.stream)
        try:
            user = str((await self._client.authenticate())[0].get("user_id")) if part.file else ""
            async for message in history.said_since(self._client, to.address, oldest):
                if _ref(message) == to.ref:
                    return Receipt(provider_id=str(message.get("ts") or ""))
                if part.file and (shared := uploads.shares(message, part.file, user)):
                    return Receipt(provider_id=shared)
        except DeliveryError as error:
            raise Unavailable(f"history cannot be read: {error}", error.code) from error
        return None

    def carries(self, file: Media, to: Address) -> bool:
        return uploads.carries(file)

    async def show_working(self, to: Address) -> None:
        await self.show_doing(to, gettext(WORKING))

    async def show_doing(self, to: Address, text: str) -> None:
        # The top level of a direct message has no status line: the person's message is marked instead.
        if not to.thread:
            return
        try:
            status: JsonObject = {"channel_id": to.peer, "thread_ts": to.thread, "status": text}
            await self._client.call("assistant.threads.setStatus", status)
            self._status_shown = True
        except DeliveryError as error:
            self._status_shown = False
            _log.info("slack_status_not_shown", code=error.code, cause=str(error))

    def unseen(self, to: Address) -> bool:
        return not (self._status_shown if to.thread else self._marks.allowed)

    def mark(self, to: Address, message: str) -> None:
        self._marks.show(to, message)

    def unmark(self, to: Address, message: str) -> None:
        self._marks.clear(to, message)

    async def may_invite(self, group: Address, user_key: str) -> tuple[bool, str]:
        return await groups.may_invite(self._client, group, user_key)

    async def react(self, to: Address, message: str, emoji: str) -> None:
        await self._marks.react(to, message, emoji)

    def streams_to(self, to: Address) -> bool:
        return bool(to.thread)  # chat.startStream needs a thread

    async def start_stream(self, to: Address) -> str:
        return await streams.start(self._client, to)

    async def append_stream(self, to: Address, stream: str, text: str) -> None:
        await streams.append(self._client, to, stream, text)

    async def find_stream(self, to: Address, since: datetime) -> str | None:
        async for message in history.said_since(self._client, to, history.earliest(since)):
            if streams.is_empty_stream(message):
                return str(message.get("ts") or "") or None
        return None

    async def drop_stream(self, to: Address, stream: str) -> None:
        await streams.drop(self._client, to, stream)

    async def erase(self, to: Address, provider_id: str) -> bool:
        return await streams.erase(self._client, to, provider_id)

    async def close(self) -> None:
        await self._marks.finish()
        await self._client.close()

    async def _send_file(self, part: Part, to: Target, file: OutgoingFile) -> Receipt:
        data = await to.content_of(file)
        if data is None:
            receipt = await self._post(to, {"text": escape(file.gone), "mrkdwn": False})
            return replace(receipt, degraded=True)
        try:
            return await uploads.upload(self._client, file, data, to)
        except Unreachable:
            raise
        except Rejected as error:
            # A team that has not granted files:write, or takes no files of apps.
            _log.warning("file_sent_as_text", ref=to.ref, code=error.code)
        return replace(await self._post(to, _plain(part)), degraded=True)

    async def _complete(self, part: Part, to: Target, stream: str, blocks: list[Json]) -> Receipt | None:
        """Replace the streamed message by the part; return None if the part has to be posted."""
        content: JsonObject = {"text": escape(part.text, MAX_FALLBACK), "metadata": _metadata(to)}
        if blocks:
            content["blocks"] = blocks
        try:
            await streams.complete(self._client, to.address, stream, content)
            return Receipt(provider_id=stream)
        except Rejected as error:
            _log.warning("slack_stream_not_completed", ref=to.ref, code=error.code)
        try:
            await streams.drop(self._client, to.address, stream)
        except DeliveryError as error:
            # The answer comes first; a leftover preview only looks untidy.
            _log.warning("slack_stream_not_dropped", ref=to.ref, code=error.code)
        return None

    async def redraw(self, part: Part, provider_id: str, to: Address, line: str) -> None:
        await redraw.redraw(self._client, part, provider_id, to, line)

    async def _post_plainly(self, part: Part, to: Target, blocks: list[Json]) -> Receipt:
        """Post the words without formatting; without the buttons only if Slack refuses these."""
        buttons: list[Json] = [block for block in blocks if isinstance(block, dict) and block.get("type") == "actions"]
        if not buttons:
            return await self._post(to, _plain(part))
        content: JsonObject = {"text": escape(part.text, MAX_FALLBACK)}
        content["blocks"] = [*literal_blocks(part.text), *buttons]
        try:
            return await self._post(to, content)
        except Rejected as error:
            if error.code not in FORMATTING:
                raise
            _log.warning("slack_buttons_refused", ref=to.ref, code=error.code)
        return await self._post(to, _plain(part))

    async def _post(self, to: Target, content: JsonObject) -> Receipt:
        arguments: JsonObject = {
            "channel": to.address.peer,
            "metadata": _metadata(to),
            "unfurl_links": False,
            "unfurl_media": False,
            **content,
        }
        if to.address.thread:
            arguments["thread_ts"] = to.address.thread
        return Receipt(provider_id=streams.ts_of(await self._client.call("chat.postMessage", arguments)))


def _metadata(to: Target) -> JsonObject:
    # The whole team can read metadata: the ref reveals nothing.
    return {"event_type": EVENT_TYPE, "event_payload": {"ref": to.ref}}


def _plain(part: Part) -> JsonObject:
    return {"text": escape(part.text), "mrkdwn": False}


def _blocks(part: Part) -> list[Json]:
    blocks = part.data.get("blocks", [])
    if not isinstance(blocks, list):
        raise Rejected("blocks are not a list")
    return blocks


def _ref(message: JsonObject) -> str:
    metadata = message.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("event_type") != EVENT_TYPE:
        return ""
    payload = metadata.get("event_payload")
    return str(payload.get("ref") or "") if isinstance(payload, dict) else ""
