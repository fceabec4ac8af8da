"""What a run reads and changes in the database, as the superuser."""

from typing import Any

from tests.eventually import eventually
from tests.faults.harness import Harness

_CODE = """
select a.code from approvals a join identities i on i.tenant_id = a.tenant_id
where i.user_key = $1 and a.state = 'pending'
"""


async def execute(harness: Harness, statement: str, *arguments: object) -> None:
    """Run a statement, or several that take no arguments."""
    connection = await harness.connect()
    try:
        await connection.execute(statement, *arguments)
    finally:
        await connection.close()


async def read_value(harness: Harness, statement: str, *arguments: object) -> Any:
    """Return the one value that a statement returns."""
    connection = await harness.connect()
    try:
        return await connection.fetchval(statement, *arguments)
    finally:
        await connection.close()


async def read_rows(harness: Harness, statement: str, *arguments: object) -> list[Any]:
    """Return all rows that a statement returns."""
    connection = await harness.connect()
    try:
        return await connection.fetch(statement, *arguments)
    finally:
        await connection.close()


async def until_true(harness: Harness, statement: str, *arguments: object, within: float) -> None:
    """Wait until a statement returns something that is true; raise `AssertionError` after so many seconds."""
    connection = await harness.connect()
    try:
        await eventually(lambda: connection.fetchval(statement, *arguments), statement, within=within)
    finally:
        await connection.close()


async def read_text(harness: Harness, statement: str, *arguments: object) -> str:
    """Return the text that a statement selects, once there is one."""
    connection = await harness.connect()
    try:
        return str(await eventually(lambda: connection.fetchval(statement, *arguments), statement))
    finally:
        await connection.close()


async def pending_code(harness: Harness, user_key: str) -> str:
    """Return the code of what a person is to approve, once it is there."""
    return await read_text(harness, _CODE, user_key)
