"""The tools that ship and send files: a file of the person's own, and their notes."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from abilities.documents.file import read_content
from abilities.files.tools import send_file
from abilities.lists.notes import add_note, export_notes
from core.errors import ToolFailed, ToolRetry
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.store import FileStore
from core.language.catalogue import speaking
from core.tools.context import ToolExecutionContext
from core.tools.storage import Storage
from tests.core.builders import a_context
from tests.core.harness import Store, opened


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with opened(database_url) as store:
        await store.admin.execute("insert into tenants (tenant_id) values ('ann'), ('bob')")
        yield store


@pytest.fixture
def files(store: Store, tmp_path: Path) -> Files:
    return Files(FileIntake(FileStore(store.database, FolderStore(tmp_path)), {}, reader=read_content))


def context_of(store: Store, files: Files, tenant: str = "ann") -> ToolExecutionContext:
    attached: list[str] = []
    access = files.for_turn(tenant, "turn", attached)
    storage = Storage(store.database).for_tenant(tenant)
    return replace(a_context(tenant_id=tenant), storage=storage, files=access, attached=attached)


async def test_notes_are_exported_in_the_persons_language(store: Store, files: Files) -> None:
    context = context_of(store, files)
    with speaking("de"):
        assert await export_notes(context) == "Es gibt keine Notizen."
        await add_note("Milch kaufen", context)
        assert await export_notes(context) == "Hier sind deine Notizen als Datei."
    (file_id,) = context.attached
    found = await context.files.find(file_id)
    assert (found.name, found.content_type) == ("notizen.txt", "text/plain")
    assert (await context.files.fetch(file_id)).body.decode() == "Die Notizen:\n1. Milch kaufen\n"


async def test_a_file_is_sent_back_by_its_id_or_name(store: Store, files: Files) -> None:
    before = context_of(store, files)
    lease = await before.files.put("Lease 2026.txt", b"the lease")
    await before.files.put("Leaflet.txt", b"a leaflet")
    for name in (lease.id, "lease 2026.TXT", "2026"):
        context = context_of(store, files)
        assert await send_file(name, context) == "Here is the file “Lease 2026.txt”."
        assert context.attached == [lease.id]
    for name, why in (("lea", "Several files fit"), ("contract", "no such file"), ("", "no such file")):
        with pytest.raises(ToolRetry, match=why):
            await send_file(name, context_of(store, files))


async def test_promise_11_another_persons_file_is_not_sent(store: Store, files: Files) -> None:
    lease = await context_of(store, files).files.put("lease.txt", b"the lease")
    bob = context_of(store, files, "bob")
    for name in (lease.id, "lease.txt", "lease"):
        with pytest.raises(ToolRetry, match="no such file"):
            await send_file(name, bob)
    with pytest.raises(ToolFailed, match="no such file"):
        await bob.files.send(lease.id)
    assert bob.attached == []


async def test_what_is_put_is_bounded_and_stored_once(store: Store, files: Files) -> None:
    context = context_of(store, files)
    first = await context.files.put("../../a\u202etxt.exe", b"the same")
    again = await context.files.put("b.txt", b"the same")
    assert (first.name, again.id, context.attached) == ("atxt.exe", first.id, [first.id])
    with pytest.raises(ToolFailed, match="larger than 20 MB"):
        await context.files.put("a.bin", bytes(20 * 1024 * 1024 + 1))
    with pytest.raises(ToolRetry, match="needs a name and content"):
        await context.files.put("a.txt", b"")
    for number in range(9):
        await context.files.put("n.txt", str(number).encode())
    with pytest.raises(ToolFailed, match="at most 10 files"):
        await context.files.put("n.txt", b"one more")
