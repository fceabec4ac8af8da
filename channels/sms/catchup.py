"""Texts missed while away: Twilio's message list, through the same parser and the same inbox.

After 15 seconds and its retries Twilio never calls again (notes: connection overrides), so the list is the
only way back.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from channels.sms.texts import Account, Text, read_text
from channels.sweep import bring
from core.errors import RequestRefused, Unavailable
from core.messaging.channels import InboundSink, Sweep
from core.messaging.messages import Media
from providers.sms.client import TwilioApi
from providers.sms.errors import FAILURES, describe
from providers.sms.wire import MAX_MEDIA, is_sound

if TYPE_CHECKING:
    from twilio.rest.api.v2010.account.message import MessageInstance

OVERLAP = timedelta(minutes=5)
"""Read this much further back than requested: clocks differ, and the list may show a message late."""

_PAGE_SIZE = 200
_REMEMBERED_EVERY = 20
_log = structlog.get_logger()


async def catch_up(api: TwilioApi, account: Account, sink: InboundSink, since: datetime, sweep: Sweep) -> int:
    """Hand in the texts since then, oldest first; return the number of new texts.

    The list is newest first, so it is read a day at a time, and the place reached is the moment before which all is
    handed in. Raises `Unavailable` if Twilio does not answer, `StoreUnavailable` when nothing can be stored.
    """
    start = since.astimezone(UTC) - OVERLAP
    if sweep.place:
        start = max(start, datetime.fromisoformat(sweep.place))
    new = 0
    for begin, end in _days(start, datetime.now(UTC)):
        try:
            texts = await _missed(api, account, begin, end)
        except FAILURES as error:
            raise Unavailable(f"message list: {describe(error)}") from error
        new += await _hand_in(texts, account, sink, sweep)
        if end is not None:
            await sweep.reached(end.isoformat())
    return new


def _days(start: datetime, now: datetime) -> Iterator[tuple[datetime, datetime | None]]:
    """Yield days; the first begins at `start`, and the last has no end, because Twilio's clock may be ahead."""
    end = (start + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    while end < now:
        yield start, end
        start, end = end, end + timedelta(days=1)
    yield start, None


async def _hand_in(texts: Sequence[Text], account: Account, sink: InboundSink, sweep: Sweep) -> int:
    new = 0
    for number, text in enumerate(texts, start=1):
        if number % _REMEMBERED_EVERY == 0 and text.sent_at is not None:
            await sweep.reached(text.sent_at.isoformat())
        try:
            items = read_text(text, account)
        except RequestRefused as error:
            _log.warning("sms_not_readable", provider_id=text.sid, reason=error.reason)
            continue
        received = [await bring(sink, inbound) for inbound in items]
        new += not received[-1].duplicate
    return new


async def _missed(api: TwilioApi, account: Account, start: datetime, end: datetime | None) -> list[Text]:
    texts = []
    for number in await _numbers(api, account):
        async for message in _incoming(api, number, start, end):
            media = await _media(api, message) if int(message.num_media or 0) else ()
            texts.append(
                Text(
                    sid=message.sid or "",
                    sender=message.from_ or "",
                    to=message.to or "",
                    body=message.body or "",
                    service=account.sender if account.is_service else "",
                    media=media,
                    sent_at=message.date_sent or message.date_created,
                )
            )
    texts.reverse()  # the list is newest first; sorting keeps that order within a second
    return sorted(texts, key=lambda text: text.sent_at or start)


async def _numbers(api: TwilioApi, account: Account) -> list[str]:
    if not account.is_service:
        return [account.sender]
    pool = await api.client.messaging.v1.services(account.sender).phone_numbers.list_async()
    return [entry.phone_number for entry in pool if entry.phone_number]


async def _incoming(
    api: TwilioApi, number: str, start: datetime, end: datetime | None
) -> AsyncIterator["MessageInstance"]:
    until = {"date_sent_before": end} if end is not None else {}
    stream = await api.client.messages.stream_async(to=number, date_sent_after=start, page_size=_PAGE_SIZE, **until)
    async for message in stream:
        sent = message.date_sent or message.date_created
        # Twilio's own description promises only whole days; older or newer texts are left out here.
        if message.direction == "inbound" and (sent is None or (sent >= start and (end is None or sent < end))):
            yield message


async def _media(api: TwilioApi, message: "MessageInstance") -> tuple[Media, ...]:
    files = await api.client.messages(message.sid).media.list_async(limit=MAX_MEDIA)
    return tuple(
        Media(
            url=f"{api.api_url}{item.uri.removesuffix('.json')}",
            content_type=item.content_type or "",
            voice=is_sound(item.content_type or ""),
        )
        for item in files
        if item.uri
    )
