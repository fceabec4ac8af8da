"""Files of two people who become one and two again: what both sent, both keep."""

import asyncio
import json
from pathlib import Path

import pytest

from abilities.documents.file import read_content
from abilities.files.showing import FileShowing
from core.errors import ToolFailed
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.store import FileStore
from core.files.types import SentFile
from core.messaging.messages import Media
from jobs.upkeep.schedule import prune_files
from tests.core.people.harness import CHAT, PHONE, Harness
from tests.locks import until_blocked

ANN, ANN_CHAT = "+15550000001", "7001"
PLACES = ((ANN, PHONE), (ANN_CHAT, CHAT))
BOTH, ANNS, OTHERS = b"the lease of both", b"Ann's letter", b"the other's letter"


class Provider:
    """Hands out what an address says."""

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Answer with the words of the address."""
        return SentFile("text/plain", media.url.encode())


def files_of(harness: Harness, folder: Path) -> Files:
    """Return the files of all people."""
    store = FileStore(harness.store.database, FolderStore(folder))
    return Files(
        FileIntake(store, {"sms": Provider(), "telegram": Provider()}, harness.clock, read_content), FileShowing()
    )


async def send(harness: Harness, files: Files, text: bytes, sender: str, account: tuple[str, str]) -> str:
    """Let somebody send a file; return its id."""
    await harness.ask("look", sender, account)
    tenant = await harness.tenant(sender, account)
    statement = "select id from inbound where tenant_id = $1 order by received_at desc limit 1"
    message = str(await harness.store.one(statement, tenant))
    media = json.dumps([{"url": text.decode(), "content_type": "text/plain", "name": "a.txt"}])
    await harness.store.admin.execute("update inbound set media = $2::text::jsonb where id = $1", message, media)
    (seen,) = await files.take_in(tenant, "t", message, account[0])
    assert seen.id is not None
    return seen.id


async def read(harness: Harness, files: Files, file: str, place: tuple[str, tuple[str, str]]) -> bytes | None:
    """Return what somebody reads of a file; None where they have no such file."""
    try:
        return (await files.for_turn(await harness.tenant(*place), "t").fetch(file)).body
    except ToolFailed:
        return None


@pytest.mark.parametrize("since", [False, True], ids=["before they were one", "while they were one"])
async def test_what_both_sent_both_keep_after_an_unlink(harness: Harness, tmp_path: Path, since: bool) -> None:
    files = files_of(harness, tmp_path)
    own = [await send(harness, files, text, *place) for text, place in zip((ANNS, OTHERS), PLACES, strict=True)]
    shared = await send(harness, files, BOTH, *PLACES[0])
    if not since:
        assert await send(harness, files, BOTH, *PLACES[1]) == shared
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    assert (await harness.link(code, ANN)).startswith("Linked")
    if since:
        assert await send(harness, files, BOTH, *PLACES[1]) == shared
    for file, text in zip((*own, shared), (ANNS, OTHERS, BOTH), strict=True):
        assert await read(harness, files, file, PLACES[0]) == text, "one person has all of it"
    assert (await harness.ask("UNLINK", ANN_CHAT, CHAT)).startswith("Taken back")
    await prune_files(files.intake.store, harness.clock)
    seen = [[await read(harness, files, file, place) for file in (*own, shared)] for place in PLACES]
    assert seen == [[ANNS, None, BOTH], [None, OTHERS, BOTH]]
    # Who forgets it takes it from nobody else; with the last one it goes.
    for place, left in zip(PLACES, ([None, BOTH], [None, None]), strict=True):
        await harness.store.database.rows("select redact($1,$2)", await harness.tenant(*place), ["lease"])
        await prune_files(files.intake.store, harness.clock)
        assert [await read(harness, files, shared, other) for other in PLACES] == left
    assert BOTH not in [path.read_bytes() for path in tmp_path.rglob("*-*") if path.is_file()]  # noqa: ASYNC240


async def test_bytes_of_two_go_with_both_though_both_go_at_once(harness: Harness, tmp_path: Path) -> None:
    files = files_of(harness, tmp_path)
    for place in PLACES:
        await send(harness, files, BOTH, *place)
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    await harness.link(code, ANN)
    await harness.ask("UNLINK", ANN_CHAT, CHAT)
    await prune_files(files.intake.store, harness.clock)
    tenants = [await harness.tenant(*place) for place in PLACES]
    assert len(set(await harness.store.db.files.column("key"))) == 1
    database = harness.store.database
    async with database.tenant(tenants[1]) as second:
        async with database.tenant(tenants[0]) as first:
            await first.execute("delete from files")
            waiting = asyncio.create_task(second.execute("delete from files"))
            await until_blocked(harness.store.one)
        await waiting
    await prune_files(files.intake.store, harness.clock)
    assert not [path for path in tmp_path.rglob("*-*") if path.is_file()]  # noqa: ASYNC240
