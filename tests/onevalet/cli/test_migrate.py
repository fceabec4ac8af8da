"""The command `migrate`, as an operator runs it."""

import asyncpg

from core.db.migrate import BEFORE_SQUASH
from tests.onevalet.cli.harness import Operator


async def test_a_database_from_before_the_release_is_refused_with_exit_2(operator: Operator, database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("update schema_migrations set name = $1 where number = 1", BEFORE_SQUASH)
    await connection.close()
    code, out, errors = await operator.run("migrate")
    assert (code, out) == (2, "")
    assert errors.startswith("This database was made before 0.1.0")
    assert errors.count("\n") == 1
