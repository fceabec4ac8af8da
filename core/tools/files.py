"""Files that a person sent with the messages of a turn: fetched when a tool asks, by who knows their provider."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.db.database import Database
from core.errors import ToolFailed
from core.messaging.messages import Media


@dataclass(frozen=True, slots=True)
class SentFile:
    """A fetched file. `content_type` is what its server says, lower case, without parameters."""

    content_type: str
    body: bytes


class Fetched(Protocol):
    """What a fetcher gives of one file."""

    @property
    def content_type(self) -> str: ...

    @property
    def body(self) -> bytes: ...


class FileFetcher(Protocol):
    """Fetch files of one channel, from its provider alone. Raises `ToolFailed` for one that does not lie there."""

    async def fetch(self, media: Sequence[Media]) -> Sequence[Fetched]:
        """Fetch them, within the provider's limits."""
        ...


class Files:
    """The files of all turns. `fetchers` by channel; those of other channels cannot be fetched."""

    def __init__(self, database: Database, fetchers: Mapping[str, FileFetcher]) -> None:
        self._database = database
        self._fetchers = dict(fetchers)

    def for_turn(self, tenant_id: str, turn_id: str, channel: str | None) -> "TurnFiles":
        fetcher = self._fetchers.get(channel) if channel is not None else None
        return TurnFiles(self._database, fetcher, tenant_id, turn_id)


@dataclass(frozen=True, slots=True)
class TurnFiles:
    """The files of one turn. Implements `core.tools.context.FileAccess`."""

    database: Database
    fetcher: FileFetcher | None
    tenant_id: str
    turn_id: str

    async def list(self) -> Sequence[Media]:
        statement = "select media from inbound where tenant_id = $1 and turn_id = $2 order by seq"
        rows = await self.database.tenant_rows(self.tenant_id, statement, self.turn_id)
        return [Media(**media) for row in rows for media in row["media"]]

    async def fetch(self, number: int) -> SentFile:
        sent = await self.list()
        if not 1 <= number <= len(sent):
            raise ToolFailed(f"There is no file {number}: {len(sent)} came with these messages.")
        if self.fetcher is None:
            raise ToolFailed("Files of this channel cannot be fetched.")
        [file] = await self.fetcher.fetch([sent[number - 1]])
        return SentFile(file.content_type, file.body)
