"""From a due message to the provider's parts, in the person's language.

People's files are sent as files if the channel carries them, otherwise as links that expire.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog

from core.approvals.cards import as_it_stands
from core.approvals.outcomes import said_of
from core.clock import Clock
from core.errors import Unavailable
from core.files.links import FileLinks
from core.files.store import FileStore
from core.language.catalogue import gettext, ngettext, speaking
from core.messaging.calls import Rendered
from core.messaging.capabilities import Carrying, Dividing, shortened
from core.messaging.channels import NotificationChannel, Part, ReadFile
from core.messaging.due_messages import Claim, DueMessage
from core.messaging.files import OutgoingFile
from core.messaging.holding import Holding
from core.messaging.messages import Address, Media, OutboundMessage
from core.replies import MISSING

_MARKS = re.compile(r"[<>\[\]`*|\\]")
"""Characters by which a file's name could format the message."""

_log = structlog.get_logger()

type Prepare = Callable[[OutboundMessage], OutboundMessage]
"""Returns a message with the files that its channel carries, and with words about the others."""


@dataclass(frozen=True, slots=True)
class SentFiles:
    """The files of all people on their way out. Without `links` they have no public address."""

    store: FileStore
    links: FileLinks | None = None

    def reader(self, tenant_id: str) -> ReadFile:
        """Return the reader of a person's files, and of nobody else's."""
        return partial(self._read, tenant_id)

    def prepare(
        self, tenant_id: str, message: OutboundMessage, channel: NotificationChannel, to: Address, now: datetime
    ) -> OutboundMessage:
        """Return a message with the files that its channel carries, and with words about the others."""
        kept = [media for media in message.media if media.file_id is not None]
        if not kept:
            return message
        files, words = list[OutgoingFile](), list[str]()
        for media in kept:
            file = self._outgoing(tenant_id, media, now)
            if isinstance(channel, Carrying) and channel.carries(media, to):
                files.append(file)
            else:
                words.append(file.instead)
        others = tuple(media for media in message.media if media.file_id is None)
        text = "\n\n".join(filter(None, (message.text, *words)))
        return replace(message, text=text, media=others, files=tuple(files))

    def _outgoing(self, tenant_id: str, media: Media, now: datetime) -> OutgoingFile:
        name, file_id = shown_name(media), media.file_id or ""
        link, instead = None, gettext("I have the file {name} for you, but I cannot send it here.", name=f"“{name}”")
        if self.links is not None:
            link, days = self.links.make(tenant_id, file_id, now), self.links.good_for.days
            instead = ngettext(
                "The file {name}, to be opened within {number} day: {link}",
                "The file {name}, to be opened within {number} days: {link}",
                days,
                name=f"“{name}”",
                link=link,
            )
        gone = gettext("The file {name} has been deleted.", name=f"“{name}”")
        return OutgoingFile(file_id, name, media.content_type, media.size or 0, link, instead, gone)

    async def _read(self, tenant_id: str, file_id: str) -> bytes | None:
        try:
            return await self.store.bytes_of(tenant_id, file_id)
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)
            raise Unavailable("the files cannot be reached") from error


def prepared(
    files: SentFiles | None, tenant_id: str, due: DueMessage, channel: NotificationChannel, clock: Clock
) -> Prepare:
    """Return the function that prepares a message for its channel; without `files` it changes nothing."""

    def prepare(message: OutboundMessage) -> OutboundMessage:
        return files.prepare(tenant_id, message, channel, due.address, clock.now()) if files else message

    return prepare


def reader(files: SentFiles | None, tenant_id: str) -> ReadFile | None:
    """Return the reader of a person's files while they are sent."""
    return files.reader(tenant_id) if files else None


def shown_name(media: Media) -> str:
    """Return a file's name without characters that would format the message around it."""
    return _MARKS.sub("", media.name).strip() or "file"


LONG_TEXT = 2_000
"""Characters from which a message is rendered in a thread."""


async def render(
    due: DueMessage, channel: NotificationChannel, now: datetime, prepare: Prepare
) -> tuple[Sequence[Part], str | None]:
    """Return the parts, and the message's translated sentences, or None if it has a text of its own."""
    with speaking(due.language):
        said = said_of(due.sentences, due.timezone, now) if due.sentences else None
        message = prepare(_worded(due, said, now))
        if len(message.text) > LONG_TEXT:  # the loop's other work need not wait for it
            return await asyncio.to_thread(channel.render, message), said
        return channel.render(message), said


async def parts_to_send(
    holding: Holding,
    claim: Claim,
    due: DueMessage,
    channel: NotificationChannel,
    rendered: Rendered,
    now: datetime,
    prepare: Prepare,
) -> Rendered:
    """Return the parts of an answer that may be long: on a channel that is billed, its person may be asked first."""
    if not isinstance(channel, Dividing):
        return rendered
    in_portions = channel.portions

    def portions(first: int | None, change: Prepare) -> Sequence[Part]:
        with speaking(due.language):
            said = said_of(due.sentences, due.timezone, now) if due.sentences else None
            return in_portions(change(prepare(_worded(due, said, now))), first)

    return await holding.parts_of(claim, due, channel, rendered, portions)


def _worded(due: DueMessage, said: str | None, now: datetime) -> OutboundMessage:
    """Return the message in words: its text or its translated sentences, and whether an earlier message may be missing.

    A card was written when its request was made; its sentence about time is put as of now.
    """
    if due.asks is not None:
        return as_it_stands(due.message, due.asks, due.timezone, now)
    message = shortened(due.message if said is None else replace(due.message, text=said))
    if not due.tells_missing:
        return message
    missing = gettext(MISSING)
    # The end of a long message may wait until the person asks for it.
    first = (missing, message.text) if len(message.text) > LONG_TEXT else (message.text, missing)
    return replace(message, text="\n\n".join(filter(None, first)))
