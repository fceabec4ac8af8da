"""Takes in the files of a message: fetch, read and store them, each once, and say what they are."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import structlog

from core.clock import Clock
from core.documents.file import FileContent, FileUnreadable, read_content
from core.documents.kinds import FileFailure, FileKind, kind_of
from core.files.hearing import Hearing
from core.files.names import clean_name
from core.files.sentences import why_not
from core.files.store import FileStore, StoreFull
from core.files.types import MAX_BYTES, FileFetcher, FileNotFetched, FileTurn, SeenFile, SentFile, StoredFile
from core.files.views import view_of
from core.files.vision import Vision
from core.messaging.messages import Media

MAX_FILES = 10
"""Files of one message that are looked at."""
_TRIES = 2
_PAUSE = 1.0

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FileIntake:
    """Take in files. `fetchers` by channel; one instance a worker, which reads `at_once` files at a time."""

    store: FileStore
    fetchers: Mapping[str, FileFetcher]
    clock: Clock = field(default_factory=Clock)
    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))

    async def take_in(
        self, turn: FileTurn, inbound_id: str, channel: str, vision: Vision, hearing: Hearing
    ) -> tuple[SeenFile, ...]:
        """Return the files of a message as the model is shown them; those that were taken in before are not fetched.

        What the person says in its voice notes is kept with the message.
        """
        tenant_id = turn.tenant_id
        media = await self.store.media_of(tenant_id, inbound_id)
        taken = await self.store.taken(tenant_id, inbound_id)
        seen: list[SeenFile] = []
        for number, item in enumerate(media[:MAX_FILES], start=1):
            outcome = taken.get(number)
            if outcome is None:
                outcome = await self._take(tenant_id, channel, item)
                if outcome is not FileFailure.UNREACHABLE:  # which is tried again when the turn is
                    await self.store.record(tenant_id, inbound_id, number, outcome)
            named = (clean_name(item.name), number)
            seen.append(await self._seen(turn, outcome, named, vision, partial(hearing.hear, self.store, turn, item)))
        if words := "\n".join(file.words for file in seen if file.words):
            await self.store.hear(tenant_id, inbound_id, words)
        return tuple(seen)

    async def _take(self, tenant_id: str, channel: str, media: Media) -> str | FileFailure:
        """Fetch, read and store one file; return its id, or why it cannot be used."""
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
            kind = FileKind.AUDIO  # of a clip in which somebody speaks to us only the sound counts
        content = FileContent()
        if kind is not FileKind.AUDIO:  # which is read when it is listened to
            async with self.at_once:
                content = await read_content(sent.body, kind)
        told = Media(media.url, sent.content_type or media.content_type, clean_name(media.name or sent.name))
        try:
            return await self.store.keep(tenant_id, sent.body, kind, content, told, now)
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)
            raise FileNotFetched(FileFailure.UNREACHABLE) from error

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
        outcome: str | FileFailure,
        named: tuple[str, int],
        vision: Vision,
        listen: Callable[[StoredFile, tuple[str, int]], Awaitable[SeenFile]],
    ) -> SeenFile:
        if isinstance(outcome, FileFailure):
            return SeenFile(failure=why_not(outcome, *named))
        file = await self.store.find(turn.tenant_id, outcome)
        if file is None:  # forgotten, or too old, since it was taken in
            return SeenFile(failure=why_not(FileFailure.GONE, *named))
        if file.is_recording:
            return await listen(file, named)
        if not file.is_picture:
            return view_of(file, await self.store.pages(turn.tenant_id, file.id))
        return await self._picture(turn, file, named, vision)

    async def _picture(self, turn: FileTurn, file: StoredFile, named: tuple[str, int], vision: Vision) -> SeenFile:
        tenant_id = turn.tenant_id
        try:
            picture = await self.store.bytes_of(tenant_id, file.id)
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)
            return SeenFile(file.id, failure=why_not(FileFailure.UNREACHABLE, *named))
        if picture is None:
            return SeenFile(file.id, failure=why_not(FileFailure.GONE, *named))
        if vision.sees():
            return view_of(file, picture=picture)
        caption = file.caption or await vision.describe(tenant_id, turn.turn_id, picture)
        if not caption:
            return SeenFile(file.id, failure=why_not(FileFailure.UNSEEN, *named))
        if not file.caption:
            await self.store.describe(tenant_id, file.id, caption)
        return view_of(file, [caption])
