"""People's files: their rows and their bytes. Each method is about the files of a single person."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from core.db.database import Database
from core.files.blobs import BlobStore
from core.files.kinds import FileFailure, FileKind
from core.files.types import FileContent, StoredFile
from core.ids import make_id
from core.json_types import Json, JsonObject
from core.messaging.messages import Media

_UNFINISHED = timedelta(days=1)
"""The time after which a file that was not stored whole is dropped: a resumed turn begins its row again."""
_MAX_LISTED = 30
_BATCH = 200
_LIST = (
    "select id, kind, content_type, name, size, page_count, cut, caption, used_at from files"
    " where tenant_id = $1 and state = 'kept' order by used_at desc limit $2"
)
# `size` counts the text that is kept beside the bytes, too.
_FIND = (
    "select id, key, kind, content_type, name, size, page_count, cut, caption, used_at,"
    " size - coalesce((select sum(length(p)) from jsonb_array_elements_text(pages) p), 0) as kept_size"
    " from files where tenant_id = $1 and id = $2 and state = 'kept'"
)


class StoreFull(Exception):
    """All people's files together have reached the store's limit."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Bytes for each person and for all together, and the time for which an unused file is kept."""

    person: int = 200 * 1024 * 1024
    everybody: int = 10 * 1024 * 1024 * 1024
    kept: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class FileStore:
    """The store of people's files."""

    database: Database
    blobs: BlobStore
    limits: FileLimits = FileLimits()

    async def media_of(self, tenant_id: str, inbound_id: str) -> Sequence[Media]:
        """Return the files of a message as their channel described them."""
        statement = "select media from inbound where tenant_id = $1 and id = $2"
        row = await self.database.tenant_row(tenant_id, statement, inbound_id)
        return [Media(**media) for media in row["media"]] if row else []

    async def taken(self, tenant_id: str, inbound_id: str) -> dict[int, str | FileFailure]:
        """Return the outcomes of a message's files by number: an id or a failure."""
        statement = "select number, file_id, failure from inbound_files where tenant_id = $1 and inbound_id = $2"
        rows = await self.database.tenant_rows(tenant_id, statement, inbound_id)
        return {row["number"]: row["file_id"] or FileFailure(row["failure"]) for row in rows}

    async def known(self, tenant_id: str, data: bytes) -> str | None:
        """Return the id of a file of this person's with the same content."""
        digest = hashlib.sha256(data).hexdigest()
        statement = "select id from files where tenant_id = $1 and sha256 = $2 and state = 'kept'"
        row = await self.database.tenant_row(tenant_id, statement, digest)
        return str(row["id"]) if row else None

    async def keep(
        self, tenant_id: str, data: bytes, kind: FileKind, content: FileContent, media: Media, now: datetime
    ) -> str:
        """Store a file, and return its id; its row comes first, so that no bytes are without a row. Raises `StoreFull`.

        Of a picture only the reader's copy is kept.
        """
        digest, kept = hashlib.sha256(data).hexdigest(), content.picture or data
        pages: list[Json] = list(content.pages)
        size = len(kept) + sum(map(len, content.pages))
        row: JsonObject = {
            "id": f"f{digest[:10]}",
            "sha256": digest,
            "key": f"{tenant_id}/{digest}-{make_id('blob')}",
            "kind": kind.value,
            "content_type": "image/jpeg" if content.picture else media.content_type[:200],
            "name": media.name,
            "size": size,
            "pages": pages,
            "page_count": content.page_count,
            "cut": content.cut,
        }
        await self._make_room(tenant_id, size)
        begun = await self.database.call("select * from begin_file($1,$2,$3)", tenant_id, row, now)
        if begun is None:
            raise StoreFull  # another content begins with the same forty bits
        await self.blobs.put(begun["key"], kept)
        return str(row["id"])

    async def record(self, tenant_id: str, inbound_id: str, number: int, outcome: str | FileFailure) -> None:
        """Record the outcome of a message's file."""
        if not isinstance(outcome, FileFailure):
            await self.database.rows("select end_file($1,$2,$3,$4)", tenant_id, outcome, inbound_id, number)
            return
        await self.database.repeat(
            tenant_id,
            "insert into inbound_files (tenant_id, inbound_id, number, failure) values ($1, $2, $3, $4)"
            " on conflict (tenant_id, inbound_id, number) do update set failure = $4, file_id = null",
            inbound_id,
            number,
            str(outcome),
        )

    async def keep_made(self, tenant_id: str, file_id: str, name: str, now: datetime) -> None:
        """Mark a file as made, or sent again, by a tool."""
        await self.database.repeat(
            tenant_id,
            "update files set state = 'kept', name = $3, used_at = greatest(used_at, $4)"
            " where tenant_id = $1 and id = $2",
            file_id,
            name,
            now,
        )

    async def find(self, tenant_id: str, file_id: str) -> StoredFile | None:
        """Return a file of this person."""
        row = await self._row(tenant_id, file_id)
        return _stored(row) if row else None

    async def list(self, tenant_id: str) -> Sequence[StoredFile]:
        """Return this person's files, the last sent first."""
        return [_stored(row) for row in await self.database.tenant_rows(tenant_id, _LIST, _MAX_LISTED)]

    async def pages(self, tenant_id: str, file_id: str) -> Sequence[str]:
        """Return the text of a file, page by page."""
        statement = "select pages from files where tenant_id = $1 and id = $2 and state = 'kept'"
        row = await self.database.tenant_row(tenant_id, statement, file_id)
        return [str(page) for page in row["pages"]] if row else []

    async def bytes_of(self, tenant_id: str, file_id: str) -> bytes | None:
        """Return the kept bytes of a file; None if there are none."""
        row = await self._row(tenant_id, file_id)
        return await self.blobs.get(row["key"]) if row else None

    async def describe(self, tenant_id: str, file_id: str, caption: str) -> None:
        """Store the description of a picture, so that it is looked at only once."""
        statement = "update files set caption = $2 where tenant_id = $1 and id = $3"
        await self.database.tenant_rows(tenant_id, statement, caption, file_id)

    async def keep_transcript(self, tenant_id: str, file_id: str, pages: Sequence[str]) -> None:
        """Store the transcript of a recording."""
        await self.database.rows("select keep_transcript($1,$2,$3)", tenant_id, file_id, list(pages))

    async def hear(self, tenant_id: str, inbound_id: str, words: str) -> None:
        """Store the words of a message's voice notes as words of the message."""
        await self.database.rows("select hear_message($1,$2,$3)", tenant_id, inbound_id, words)

    async def listen_again(self, tenant_id: str, inbound_id: str) -> int:
        """Move the failed recordings before a message to it; return the number of files that the message then has."""
        row = await self.database.one("select listen_again($1,$2) as files", tenant_id, inbound_id)
        return int(row["files"])

    async def expire(self, now: datetime) -> int:
        """Delete all people's files that were not used for long, or never stored whole; return their number."""
        statement = "select expire_files($1,$3) + drop_unfinished_files($2,$3) as count"
        row = await self.database.one(statement, now - self.limits.kept, now - _UNFINISHED, _BATCH)
        return int(row["count"])

    async def delete_bytes(self) -> int:
        """Delete bytes that no row names any more; return the number of files. Safe to repeat."""
        statement = "select key from file_deletions where deleted_at <= clock_timestamp() order by deleted_at limit $1"
        rows = await self.database.rows(statement, _BATCH)
        for row in rows:
            await self.blobs.delete(row["key"])
            await self.database.rows("delete from file_deletions where key = $1", row["key"])
        return len(rows)

    async def _make_room(self, tenant_id: str, size: int) -> None:
        if (await self.database.one("select bytes from size_of_files()"))["bytes"] + size > self.limits.everybody:
            raise StoreFull
        await self.database.rows("select make_room($1,$2,$3)", tenant_id, size, self.limits.person)

    async def _row(self, tenant_id: str, file_id: str) -> asyncpg.Record | None:
        return await self.database.tenant_row(tenant_id, _FIND, file_id)


def _stored(row: asyncpg.Record) -> StoredFile:
    return StoredFile(
        id=row["id"],
        kind=FileKind(row["kind"]),
        content_type=row["content_type"],
        name=row["name"],
        size=row["size"],
        page_count=row["page_count"],
        cut=row["cut"],
        caption=row["caption"],
        sent_at=row["used_at"],
        kept_size=row.get("kept_size", 0),
    )
