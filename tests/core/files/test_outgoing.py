"""What tools make for a person, where it cannot be kept."""

from pathlib import Path

import pytest

from abilities.documents.file import read_content
from core.errors import ToolFailed, ToolRetry
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.store import FileLimits, FileStore
from core.files.types import MAX_BYTES
from tests.core.harness import Store, message


async def written(store: Store) -> str:
    """Let a person write; return who it is."""
    await store.inbox.accept(message("hello", "+15550000001", "SM1"))
    return await store.db.person()


async def test_what_cannot_be_kept_is_said_in_a_sentence(store: Store, tmp_path: Path) -> None:
    tenant = await written(store)
    files = Files(
        FileIntake(FileStore(store.database, FolderStore(tmp_path), FileLimits(everybody=10)), {}, reader=read_content)
    )
    outlet = files.outlet
    with pytest.raises(ToolFailed, match=r"^I have no room to keep the file “sums.csv” at the moment\.$"):
        await outlet.put(tenant, "sums.csv", b"day,sum\n" * 10, None)
    with pytest.raises(ToolFailed, match=r"^The file “sums.csv” is larger than 20 MB\.$"):
        await outlet.put(tenant, "sums.csv", b"0" * (MAX_BYTES + 1), None)
    for name, data in (("", b"1"), ("a.txt", b"")):
        with pytest.raises(ToolRetry, match="needs a name and content"):
            await outlet.put(tenant, name, data, None)
    assert await store.db.files.count(state="kept") == 0
