"""A private Postgres on a small tmpfs that a test can fill; only root may mount it."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from onevalet.servers.postgres import Postgres
from tests.services import _PREFIX

SIZE = "160m"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount the small disk that this fills up")


@dataclass(slots=True)
class SmallDisk:
    """A server on its small disk."""

    server: Postgres
    folder: Path

    @property
    def url(self) -> str:
        """Return the DATABASE_URL."""
        return self.server.url

    def fill(self) -> None:
        """Fill the disk to the last page."""
        # Blocks that were given back while this ran are taken too.
        for number in range(3):
            subprocess.run(
                ["/bin/dd", "if=/dev/zero", f"of={self.folder / f'filler{number}'}", "bs=4096"],
                check=False,
                capture_output=True,
            )

    def make_room(self) -> None:
        """Delete what filled the disk."""
        for filler in self.folder.glob("filler*"):
            filler.unlink()


@asynccontextmanager
async def small_disk() -> AsyncIterator[SmallDisk]:
    """Run a Postgres on a disk that can be filled; its database has no tables."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    await _run("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0711", "tmpfs", str(folder))
    server = Postgres(folder)
    try:
        await server.start()
        yield SmallDisk(server, folder)
    finally:
        await server.stop()
        await _run("umount", "-l", str(folder))
        folder.rmdir()  # noqa: ASYNC240 - once, at the end


@asynccontextmanager
async def admin_on(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """Return a superuser's connection."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == 0, command
