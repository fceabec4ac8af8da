"""The previous release: the commit named in previous.txt, unpacked, and a database that it made.

`python -m tests.upgrade.previous` writes its shape to previous.json; run it after the commit in previous.txt changed.
"""

import asyncio
import os
import re
import subprocess
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import asyncpg
import pytest

from core.db import migrate as migrating
from core.db.migrate import migrate
from core.db.sql_files import AbilitySql, load_functions, load_migrations
from tests.forker import ROOT
from tests.services import private_postgres
from tests.shipping.harness import SHIPPED
from tests.upgrade.shape import PREVIOUS_SHAPE, read_shape

COMMIT = (Path(__file__).parent / "previous.txt").read_text().split()[0]


def unpack(folder: Path, commit: str = COMMIT) -> Path:
    """Unpack a commit, the previous release; skip the test, outside CI, if this clone has no such commit."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        reason = f"this clone has no commit {commit}: git fetch --unshallow"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


async def migrate_with(folder: Path, database_url: str) -> None:
    """Migrate a database with the files of a release."""
    sql = folder / "core" / "db" / "sql"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrating, "load_migrations", lambda: load_migrations(sql / "migrations"))
        patch.setattr(migrating, "load_functions", lambda: load_functions(sql / "functions"))
        await migrate(database_url, _sql_of_abilities(folder))


def _sql_of_abilities(folder: Path) -> list[AbilitySql]:
    return [AbilitySql(path.parent.name, path) for path in sorted(folder.glob("abilities/*/sql"))]


async def migrate_tables(database_url: str, folder: Path) -> list[str]:
    """Apply this code's migrations, and leave the functions of a release as they are."""
    with pytest.MonkeyPatch.context() as patch:
        functions = folder / "core" / "db" / "sql" / "functions"
        patch.setattr(migrating, "load_functions", lambda: load_functions(functions))
        return await migrate(database_url)


async def _write() -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = unpack(Path(path))
        async with private_postgres() as server:
            await migrate_with(folder, server.url)
            connection = await asyncpg.connect(server.url)
            shape = await read_shape(connection)
            await connection.close()
        code = [file.read_text() for room in SHIPPED for file in folder.glob(f"{room}/**/*.py")]
    # What only other functions call is replaced together with them.
    words = set(re.findall(r"\w+", "\n".join(code)))
    shape.functions = {name: function for name, function in shape.functions.items() if function.name in words}
    PREVIOUS_SHAPE.write_text(shape.to_json())


if __name__ == "__main__":
    asyncio.run(_write())
