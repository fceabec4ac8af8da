"""Intake of a message's files: each is fetched, read and stored once, and shown to the model."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from core.clock import Clock
from core.files.kinds import FileFailure, FileKind, kind_of
from core.files.names import clean_name
from core.files.sentences import why_not
from core.files.showing import ShowsFiles
from core.files.store import FileStore, StoreFull
from core.files.types import (
    MAX_BYTES,
    FileContent,
    FileFetcher,
    FileNotFetched,
    FileReader,
    FileTurn,
    FileUnreadable,
    SeenFile,
    SentFile,
)
from core.messaging.messages import Media

MAX_FILES = 10
"""The most files of a message that are taken in."""
_TRIES = 2
_PAUSE = 1.0

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FileIntake:
    """Fetch, read and store files; without a `reader` files are kept as they are."""

    store: FileStore
    fetchers: Mapping[str, FileFetcher]
    clock: Clock = field(default_factory=Clock)
    reader: FileReader | None = None

    async def take_in(
        self, turn: FileTurn, inbound_id: str, channel: str, shows: ShowsFiles | None
    ) -> tuple[SeenFile, ...]:
        """Return the files of a message as the model sees them; files that were taken in before are not fetched again.

        The words of its voice notes are kept with the message.
        """
        tenant_id = turn.tenant_id
        media = await self.store.media_of(tenant_id, inbound_id)
        taken = await self.store.taken(tenant_id, inbound_id)
        seen: list[SeenFile] = []
        for number, item in enumerate(media[:MAX_FILES], start=1):
            outcome = taken.get(number)
            if outcome is None:
                outcome = await self._take(tenant_id, channel, item)
                if outcome is not FileFailure.UNREACHABLE:  # which is tried again with the turn
                    await self.store.record(tenant_id, inbound_id, number, outcome)
            named = (clean_name(item.name), number)
            seen.append(await self._seen(turn, item, outcome, named, shows))
        if words := "\n".join(file.words for file in seen if file.words):
            await self.store.hear(tenant_id, inbound_id, words)
        return tuple(seen)

    async def _take(self, tenant_id: str, channel: str, media: Media) -> str | FileFailure:
        """Fetch, read and store a file; return its id, or the reason why it cannot be used."""
        now = self.clock.now()
        try:
            sent = await self._fetch(channel, media)
            if known := await self.store.known(tenant_id, sent.body):
                return known
            return await self._keep(tenant_id, sent, media, now)
        except FileNotFetched as error:
            failure = error.failure
        except FileUnreadable as error:
            failure = error.failure
        except StoreFull:
            failure = FileFailure.FULL
            _log.error("file_store_full")
        _log.info("file_not_taken", channel=channel, cause=failure.value)
        return failure

    async def _keep(self, tenant_id: str, sent: SentFile, media: Media, now: datetime) -> str:
        kind = kind_of(sent.body)
        if media.voice and kind is FileKind.VIDEO:
            kind = FileKind.AUDIO  # only the sound counts of a clip that a person speaks in
        content = FileContent()
        if kind is not FileKind.AUDIO:  # a recording is read by its transcription
            content = await self.read(sent.body, kind)
        told = Media(media.url, sent.content_type or media.content_type, clean_name(media.name or sent.name))
        try:
            return await self.store.keep(tenant_id, sent.body, kind, content, told, now)
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)
            raise FileNotFetched(FileFailure.UNREACHABLE) from error

    async def read(self, data: bytes, kind: FileKind) -> FileContent:
        """Return the content of a file, which is empty without a reader. Raises `FileUnreadable`."""
        return FileContent() if self.reader is None else await self.reader(data, kind)

    async def _fetch(self, channel: str, media: Media) -> SentFile:
        fetcher = self.fetchers.get(channel)
        if fetcher is None:
            raise FileNotFetched(FileFailure.GONE)
        if media.size is not None and media.size > MAX_BYTES:
            raise FileNotFetched(FileFailure.TOO_LARGE)
        for _ in range(_TRIES - 1):
            try:
                return await fetcher.fetch(media, MAX_BYTES)
            except FileNotFetched as error:
                if error.failure is not FileFailure.UNREACHABLE:
                    raise
                await asyncio.sleep(_PAUSE)
        return await fetcher.fetch(media, MAX_BYTES)

    async def _seen(
        self,
        turn: FileTurn,
        media: Media,
        outcome: str | FileFailure,
        named: tuple[str, int],
        shows: ShowsFiles | None,
    ) -> SeenFile:
        if isinstance(outcome, FileFailure):
            return SeenFile(failure=why_not(outcome, *named))
        file = await self.store.find(turn.tenant_id, outcome)
        if file is None:  # forgotten, or too old, since it was taken in
            return SeenFile(failure=why_not(FileFailure.GONE, *named))
        if shows is None:
            return SeenFile(file.id, failure=why_not(FileFailure.UNSHOWN, *named), is_voice=media.voice)
        return await shows.show(self.store, turn, media, file, named)
