"""Commands as an operator runs them: each in a process of its own, against one database."""

from dataclasses import dataclass
from pathlib import Path

import asyncpg

from tests.forker import Forker


@dataclass(slots=True)
class Operator:
    """Run commands against one database."""

    environment: dict[str, str]
    forker: Forker
    folder: Path

    async def run(self, *words: str, stdin: str = "", **changed: str) -> tuple[int, str, str]:
        """Run a command; return exit code, standard output and standard error."""
        paths = [self.folder / name for name in ("stdin", "out", "errors")]
        for path, text in zip(paths, (stdin, "", ""), strict=True):
            path.write_text(text)
        process = self.forker.fork(words, self.environment | changed, paths[1], paths[2], stdin=paths[0])
        return await process.wait(), paths[1].read_text(), paths[2].read_text()


async def add_people(database_url: str, *tenants: str) -> None:
    """Create people without identities."""
    connection = await asyncpg.connect(database_url)
    await connection.executemany("insert into tenants (tenant_id) values ($1)", [(tenant,) for tenant in tenants])
    await connection.close()
