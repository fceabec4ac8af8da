"""Without an ability that reads and shows files they are kept all the same, and their person is told so once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.kinds import FileKind
from core.files.store import FileStore
from core.files.types import FileContent
from tests.core.files.test_store import Home
from tests.core.harness import opened
from tests.eventually import eventually, never


@pytest.fixture
async def home(database_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    async with opened(database_url) as store:
        yield Home(store, tmp_path / "files")


async def test_a_file_that_nothing_can_read_is_kept_and_told_of(home: Home) -> None:
    store = FileStore(home.store.database, FolderStore(home.folder), home.limits)
    files = Files(FileIntake(store, {"sms": home.provider}, home.clock))
    tenant, turn, message = await home.send(b"the lease")
    (seen,) = await files.take_in(tenant, turn, message, "sms")
    assert seen.failure == "I have kept the file “a.txt”, but nothing here can read it."
    assert (seen.note, seen.text) == ("", "")
    assert home.stored() == [b"the lease"]
    [kept] = await files.for_turn(tenant, turn).list()
    assert (kept.id, kept.page_count) == (seen.id, 0)


async def test_files_of_one_person_that_are_read_for_long_hold_up_no_other() -> None:
    reached = 0

    async def read(data: bytes, kind: FileKind) -> FileContent:
        nonlocal reached
        if data == b"hostile":
            reached += 1
            await never()
        return FileContent((data.decode(),))

    intake = FileIntake(cast(FileStore, None), {}, reader=read)
    slow = [asyncio.create_task(intake.read("ann", b"hostile", FileKind.TEXT)) for _ in range(4)]
    await eventually(lambda: reached, "a file that is read")
    assert (await intake.read("ben", b"the lease", FileKind.TEXT)).pages == ("the lease",)
    assert reached == 1
    for one in slow:
        one.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
