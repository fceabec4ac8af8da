"""Promise 11: two people whose ids differ in case only share nothing, whatever both do, in whatever order."""

import asyncio
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from core.people.tenant_tables import tenant_tables
from tests.core.harness import Store
from tests.core.people.person import USERS, Actor, mark_of
from tests.examples import examples

ROOT = Path(__file__).parents[3]


async def assert_apart(store: Store) -> None:
    """Look at all rows of all tables with an admin connection that sees them all."""
    owners = {await store.db.person(user): mark_of(user) for user in USERS}
    assert len(owners) == 2
    seen = set()
    for table in tenant_tables():
        for row in await store.admin.fetch(f"select tenant_id, x::text as text from {table} x"):  # noqa: S608
            for owner, mark in owners.items():
                if mark in row["text"]:
                    seen.add(table)
                    assert row["tenant_id"] == owner, table
    # Every store that people's words reach was reached; where only ids lie, the rows' tenants are compared above.
    assert seen >= {"inbound", "inbox_keys", "history", "steps", "outbound", "outbound_parts", "stored_values",
                    "spending", "profile_facts", "tenants"}  # fmt: skip


@examples(3, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(seed=st.integers(0, 2**32))
async def test_promise_11_two_people_at_once_share_nothing(store: Store, seed: int) -> None:
    actors = [Actor(store.url, number, seed) for number in (0, 1)]
    await asyncio.gather(*(actor.act(30) for actor in actors))


@pytest.mark.whole("it starts processes of its own")
async def test_promise_11_two_people_in_processes_of_their_own_share_nothing(store: Store) -> None:
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.core.people.person", store.url, str(number), "7", "100",
            cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )
        for number in (0, 1)
    ]  # fmt: skip
    for process in processes:
        out, _ = await process.communicate()
        assert process.returncode == 0, out.decode()[-2000:]
    await assert_apart(store)
