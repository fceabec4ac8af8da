"""Nobody sees, makes, changes or takes away another person's receipts."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import asyncpg
import pytest

from abilities.receipts.path import read_path
from abilities.receipts.tools import list_receipts
from core.json_types import JsonObject
from operations.console.access import NothingHere, Scope, Viewer
from tests.abilities.receipts.acting import open_acting, receipts_of
from tests.abilities.receipts.test_kept import retention_of
from tests.contract.approving import Approving
from tests.core.builders import says, wants

SQL = {
    "reads the rows": "select * from receipts where tenant_id = $1",
    "reads all rows": "select * from receipts where $1 <> ''",
    "counts the rows": "select 1 from receipts where $1 <> '' having count(*) > 1",
    "reads the journal": "select * from steps where tenant_id = $1 and effect = 'once'",
    "reads by a receipt of a step": "select receipt_of(s) from steps s where tenant_id = $1",
    "reads the cards": "select receipt_card(s) from steps s where tenant_id = $1",
    "reads by its number": "select * from receipts where number = $2 and $1 <> ''",
    "joins": "select r.* from tenants t join receipts r on r.tenant_id <> t.tenant_id and $1 <> ''",
    "updates": "update receipts set told = '{}' where tenant_id = $1 returning 1",
    "takes over": "update receipts set tenant_id = current_setting('onevalet.tenant') where tenant_id = $1 returning 1",
    "deletes": "delete from receipts where tenant_id = $1 returning 1",
    "deletes all others": "delete from receipts where tenant_id <> current_setting('onevalet.tenant')"
    " and $1 <> '' returning 1",
    "inserts": "insert into receipts (tenant_id, turn_id, agent_path, step, call_index, number, at, told)"
    " values ($1, 'x', '', 0, 1, 'n', now(), '{}') returning 1",
    "moves their own there": "update steps set tenant_id = $1 where effect = 'once' returning 1",
    "keeps for them": "select 1 from keep_receipts($1, $3), receipts where tenant_id = $1",
    "locks": "select 1 from receipts where tenant_id = $1 for update",
    "looks by a row type": "select r::text from receipts r where r.told::text like '%' || $1 || '%'",
    "truncates": "truncate receipts",
    "turns the policies off": "alter table receipts disable row level security",
    "becomes the owner": "set role postgres",
}
"""Statements of the serving role as Eve, about Ann: her id, the number of a receipt of hers, and a turn of hers."""


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield Ada and Grace, for each of whom something was done; all of it kept twice, in the journal and beside it."""
    async with open_acting("sms", database_url) as system:
        for number in range(2):
            for person in ("ada", "grace"):
                system.clock.move(timedelta(seconds=1))
                system.model.script[:] = [wants(("ring", {"bell": f"{person} {number}"})), says("Done.")]
                await system.say("please ring", person)
            if number == 0:
                await retention_of(system, 91).prune_journals()
        yield system


async def both(system: Approving) -> tuple[str, str]:
    """Return the ids of Ada and Grace."""
    ids = await system.delivery.store.column("select tenant_id from tenants order by created_at")
    return str(ids[0]), str(ids[1])


async def test_promise_11_another_persons_receipts_are_out_of_reach(system: Approving) -> None:
    ada, grace = await both(system)
    hers = await receipts_of(system, ada)
    assert len(hers) == len(await receipts_of(system, grace)) == 2
    arguments = (ada, hers[0].number, hers[0].turn_id)
    database = system.delivery.store.database
    for tried, statement in SQL.items():
        given = arguments[: max((at for at in (1, 2, 3) if f"${at}" in statement), default=0)]
        found: list[asyncpg.Record] = []
        try:
            async with database.tenant(grace) as connection:
                found = [row for row in await connection.fetch(statement, *given) if "ada" in str(row) or row[0] == 1]
        except asyncpg.PostgresError:
            pass
        assert found == [], tried
        assert [receipt.told for receipt in await receipts_of(system, ada)] == [one.told for one in hers], tried
        assert len(await receipts_of(system, grace)) == 2, tried


@pytest.mark.parametrize("tenant", ["", "nobody", "*", "%"])
async def test_promise_11_without_a_person_there_are_no_receipts(system: Approving, tenant: str) -> None:
    async with system.delivery.store.database.tenant(tenant) as connection:
        assert await connection.fetch("select * from receipts") == []
        read = "select * from read_receipts($1, '-infinity', 'infinity', null, '', true, 9)"
        assert await connection.fetch(read, tenant) == []


async def _by_the_tool(system: Approving, ada: str, turn: str) -> str:
    system.more = [*system.more, list_receipts]
    asked: JsonObject = {"first_day": "2020-01-01", "last_day": "2040-12-31"}
    system.model.script[:] = [wants(("list_receipts", asked)), says("Yours.")]
    await system.say(f"show me the receipts of {ada}", "grace")
    return "".join(system.model.told())


async def _by_the_tools_own_arguments(system: Approving, ada: str, turn: str) -> str:
    system.more = [*system.more, list_receipts]
    asked: JsonObject = {"first_day": "2020-01-01", "last_day": "2040-12-31", "tenant_id": ada}
    system.model.script[:] = [wants(("list_receipts", asked)), says("No.")]
    await system.say("show me hers", "grace")
    return "".join(system.model.told())


async def _by_the_word(system: Approving, ada: str, turn: str) -> str:
    await system.say("receipts 30 days", "grace")
    return system.delivery.channel.bubbles("grace")[-1].text


async def _by_the_path(system: Approving, ada: str, turn: str) -> str:
    _, grace = await both(system)
    async with system.delivery.store.database.tenant(grace) as connection:
        return f"{await read_path(connection, grace, turn)} {await read_path(connection, ada, turn)}"


@pytest.mark.parametrize("way", [_by_the_tool, _by_the_tools_own_arguments, _by_the_word, _by_the_path])
async def test_promise_11_no_way_of_asking_shows_another_persons(
    system: Approving, way: Callable[[Approving, str, str], Awaitable[str]]
) -> None:
    ada, _ = await both(system)
    hers = await receipts_of(system, ada)
    shown = await way(system, ada, hers[1].turn_id)
    for receipt in hers:
        assert receipt.number not in shown
    assert "ada 0" not in shown
    assert "ada 1" not in shown


async def test_a_viewers_scope_refuses_another_persons_receipts(system: Approving) -> None:
    ada, grace = await both(system)
    scope = Scope(Viewer(grace, False), system.delivery.store.database)
    with pytest.raises(NothingHere):
        await scope.tenant_rows(ada, "select * from receipts where tenant_id = $1")
