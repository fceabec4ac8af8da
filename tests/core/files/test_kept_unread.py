"""Without an ability that reads and shows files they are kept all the same, and their person is told so once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.store import FileStore
from tests.core.files.test_store import Home
from tests.core.harness import opened


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
