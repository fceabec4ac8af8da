"""How people's files leave: as files where the channel carries them, as links that expire elsewhere."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog

from core.clock import Clock
from core.errors import Unavailable
from core.files.links import FileLinks
from core.files.store import FileStore
from core.language.catalogue import gettext, ngettext
from core.messaging.capabilities import Carrying
from core.messaging.channels import NotificationChannel, ReadFile
from core.messaging.due_messages import DueMessage
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Media, OutboundMessage
from jobs.delivery.rendering import Prepare

_MARKS = re.compile(r"[<>\[\]`*|\\]")
"""What a name could format a message with."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SentFiles:
    """The files of all people on their way out. Without `links` there is no address under which they could be had."""

    store: FileStore
    links: FileLinks | None = None

    def reader(self, tenant_id: str) -> ReadFile:
        """Return what reads one person's files, and nobody else's."""
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
    """Return what prepares a message for its channel; without `files` it is sent as it is."""

    def prepare(message: OutboundMessage) -> OutboundMessage:
        return files.prepare(tenant_id, message, channel, due.address, clock.now()) if files else message

    return prepare


def reader(files: SentFiles | None, tenant_id: str) -> ReadFile | None:
    """Return what reads one person's files while they are sent."""
    return files.reader(tenant_id) if files else None


def shown_name(media: Media) -> str:
    """Return a file's name without what would format the message around it."""
    return _MARKS.sub("", media.name).strip() or "file"
