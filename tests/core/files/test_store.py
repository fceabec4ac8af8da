"""People's files in the store: once, each person's own, within bounds, and gone with what says so."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from abilities.documents.file import read_content
from abilities.files.showing import FileShowing
from core.errors import ToolFailed
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.store import FileLimits, FileStore
from core.files.types import SentFile
from core.messaging.messages import Address, InboundMessage, Media
from jobs.upkeep.schedule import prune_files
from tests.clocks import StandingClock
from tests.core.harness import Store, opened

ANN, BOB = "+15550000001", "+15550000002"


@dataclass(slots=True)
class Provider:
    """Hands out texts by address, and counts; the first one can be made to hang."""

    texts: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    hang: asyncio.Event | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Answer with the text of an address."""
        self.asked.append(media.url)
        self.reached.set()
        if self.hang is not None:
            await self.hang.wait()
        return SentFile("text/plain", self.texts[media.url])


@dataclass(slots=True)
class Home:
    """A database, a folder, a provider."""

    store: Store
    folder: Path
    limits: FileLimits = field(default_factory=FileLimits)
    provider: Provider = field(default_factory=Provider)
    clock: StandingClock = field(default_factory=StandingClock)
    sent: int = 0

    def files(self) -> Files:
        """Return the parts of a new worker."""
        kept = FileStore(self.store.database, FolderStore(self.folder), self.limits)
        return Files(FileIntake(kept, {"sms": self.provider}, self.clock, read_content), FileShowing())

    async def send(
        self, text: bytes, sender: str = ANN, url: str = "", words: str = "", reply: str = "ok"
    ) -> tuple[str, str, str]:
        """Let somebody send a file and be answered; return their tenant, turn and message."""
        self.sent += 1
        url = url or f"https://a/{self.sent}"
        self.provider.texts[url] = text
        address = Address("sms", "+15559990000", sender)
        media = (Media(url, "text/plain", "a.txt"),)
        await self.store.inbox.accept(InboundMessage(address, sender, (f"M{self.sent}",), words, media))
        lease, turn = await self.store.claim_turn()
        (message,) = turn.request.inbound
        await self.store.finish(lease, turn, reply)
        return lease.tenant_id, turn.turn_id, message.id

    def stored(self) -> list[bytes]:
        """Return what lies in the folder."""
        return sorted(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
async def home(database_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    async with opened(database_url) as store:
        yield Home(store, tmp_path / "files")


async def test_the_same_file_is_stored_once_and_read_by_its_person_alone(home: Home) -> None:
    ids = []
    for sender in (ANN, ANN, BOB):
        tenant, turn, message = await home.send(b"the lease", sender)
        (seen,) = await home.files().take_in(tenant, turn, message, "sms")
        ids.append((tenant, turn, seen.id))
    assert ids[0][2] == ids[1][2]
    assert home.stored() == [b"the lease"] * 2, "once for each person"
    assert await home.store.db.files.count() == 2
    await home.store.db.files.delete(tenant_id=ids[0][0])
    for tenant, turn, file in ids:
        access = home.files().for_turn(tenant, turn)
        if tenant == ids[2][0]:
            assert list(await access.pages(str(file))) == ["the lease"]
        else:
            with pytest.raises(ToolFailed, match="no such file"):
                await access.pages(str(file))


async def test_a_turn_that_resumes_needs_no_second_download(home: Home) -> None:
    tenant, turn, message = await home.send(b"words")
    home.provider.hang = asyncio.Event()
    first = asyncio.create_task(home.files().take_in(tenant, turn, message, "sms"))
    await home.provider.reached.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    home.provider.hang = None
    (seen,) = await home.files().take_in(tenant, turn, message, "sms")
    again = await home.files().take_in(tenant, turn, message, "sms")
    assert (again, len(home.provider.asked)) == ((seen,), 2)
    assert home.stored() == [b"words"]


async def test_a_person_keeps_to_the_quota_and_the_oldest_go_first(home: Home) -> None:
    home.limits = FileLimits(person=1000)
    for text in (b"a" * 200, b"b" * 200, b"c" * 200):
        tenant, turn, message = await home.send(text)
        await home.files().take_in(tenant, turn, message, "sms")
        home.clock.move(timedelta(minutes=1))
    await prune_files(home.files().intake.store, home.clock)
    assert home.stored() == [b"b" * 200, b"c" * 200]  # text and bytes count


async def test_a_full_store_refuses_in_words(home: Home) -> None:
    home.limits = FileLimits(everybody=10)
    tenant, turn, message = await home.send(b"more than ten bytes")
    (seen,) = await home.files().take_in(tenant, turn, message, "sms")
    assert "no room to keep the file “a.txt”" in seen.failure
    assert home.stored() == []


async def test_what_is_old_or_forgotten_is_gone_from_the_folder(home: Home) -> None:
    kept = home.files().intake.store
    tenant, turn, message = await home.send(b"My sister is called Zelda.")
    await home.files().take_in(tenant, turn, message, "sms")
    await home.store.database.rows("select redact($1,$2)", tenant, ["zelda"])
    await prune_files(kept, home.clock)
    assert home.stored() == []
    tenant, turn, message = await home.send(b"old")
    await home.files().take_in(tenant, turn, message, "sms")
    home.clock.move(kept.limits.kept - timedelta(days=1))
    await prune_files(kept, home.clock)
    assert home.stored() == [b"old"]
    home.clock.move(timedelta(days=2))
    await prune_files(kept, home.clock)
    assert home.stored() == []


async def test_what_lies_in_the_folder_is_ours_alone(home: Home) -> None:
    tenant, turn, message = await home.send(b"secret")
    await home.files().take_in(tenant, turn, message, "sms")
    for path in home.folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path.name
        assert path.stat().st_uid == os.getuid()
