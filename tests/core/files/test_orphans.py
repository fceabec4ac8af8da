"""Bytes that nobody names are deleted, whenever whoever stored them died or the person changed their mind."""

import asyncio
import os
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.kinds import FileKind
from core.files.types import FileContent
from core.messaging.messages import Media
from jobs.upkeep.schedule import prune_files
from tests.core.files.test_store import Home, home

__all__ = ["home"]
AN_HOUR_LATER = "update file_deletions set deleted_at = deleted_at - interval '1 hour'"


class Held(FolderStore):
    """A folder that stores only when it is told to."""

    def __init__(self, home: Home) -> None:
        super().__init__(home.folder)
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def put(self, key: str, data: bytes) -> None:
        """Wait, then store."""
        self.begun.set()
        await self.go.wait()
        await super().put(key, data)


def held(home: Home) -> tuple[Files, Held]:
    """Return the parts of a worker that stores only when it is told to."""
    files, blobs = home.files(), Held(home)
    intake = replace(files.intake, store=replace(files.intake.store, blobs=blobs))
    return replace(files, intake=intake), blobs


async def test_what_a_dead_worker_had_half_written_is_swept(home: Home) -> None:
    tenant, turn, message = await home.send(b"words")
    await home.files().take_in(tenant, turn, message, "sms")
    partial = home.folder / ".partial"
    for name, age in (("dead", 3700), ("at-work", 60)):
        (partial / name).write_bytes(b"wor")
        os.utime(partial / name, (time.time() - age,) * 2)
    await prune_files(home.files().intake.store, home.clock)
    assert home.stored() == [b"wor", b"words"]
    assert [path.name for path in partial.iterdir()] == ["at-work"]


async def test_what_is_forgotten_while_it_is_stored_leaves_no_bytes(home: Home) -> None:
    files, blobs = held(home)
    tenant, turn, message = await home.send(b"My sister is called Zelda.")
    storing = asyncio.create_task(files.take_in(tenant, turn, message, "sms"))
    await blobs.begun.wait()
    await home.store.database.rows("select redact($1,$2)", tenant, ["zelda"])
    await prune_files(home.files().intake.store, home.clock)
    blobs.go.set()
    (seen,) = await storing
    assert "it no longer exists" in seen.failure
    assert home.stored() != [], "it was stored after its row was gone"
    await home.store.admin.execute(AN_HOUR_LATER)
    await prune_files(home.files().intake.store, home.clock)
    assert home.stored() == []


@pytest.mark.parametrize("stored", [False, True], ids=["no bytes yet", "bytes"])
async def test_what_nobody_stored_to_the_end_goes_after_a_day(home: Home, stored: bool) -> None:
    files, blobs = held(home)
    tenant, _, _ = await home.send(b"words")
    media, content = Media("https://a/1", "text/plain", "a.txt"), FileContent(pages=("words",))
    if stored:
        blobs.go.set()
    storing = asyncio.create_task(
        files.intake.store.keep(tenant, b"words", FileKind.TEXT, content, media, home.clock.now())
    )
    await blobs.begun.wait()
    if stored:
        await storing  # and its worker dies
    else:
        storing.cancel()
    assert home.stored() == [b"words"] * stored
    for moved in (timedelta(hours=23), timedelta(hours=2)):
        assert await home.store.db.files.count(state="storing") == 1
        home.clock.move(moved)
        await prune_files(home.files().intake.store, home.clock)
    assert await home.store.db.files.count() == 0
    await home.store.admin.execute(AN_HOUR_LATER)
    await prune_files(home.files().intake.store, home.clock)
    assert home.stored() == []
