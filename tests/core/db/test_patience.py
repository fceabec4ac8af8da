"""A call waits for the server until its patience ends, then says what was wrong."""

import asyncio
import socket
from contextlib import nullcontext

import asyncpg
import pytest
from structlog.testing import capture_logs

from core.db.database import Database
from core.errors import StoreUnavailable
from tests.eventually import eventually


async def test_a_try_cut_off_by_the_deadline_hides_no_known_cause() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        # Bound and not listening: it refuses. Listening and never accepting: it does not answer.
        database = Database(f"postgresql://nobody@127.0.0.1:{server.getsockname()[1]}/none", patience=1.0)
        with capture_logs() as logs:
            call = asyncio.ensure_future(database.rows("select 1"))
            await eventually(lambda: logs, "the first refusal")
        server.listen()
        with pytest.raises(StoreUnavailable) as raised:
            await call
    assert str(raised.value) == "ConnectionRefusedError"


_REPLACED = """
drop function if exists replaced(int);
create function replaced(p_n int) returns table (n int) language plpgsql as 'begin return query select p_n; end';
"""


async def test_a_call_that_meets_a_function_being_dropped_is_made_again(database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    await admin.execute(_REPLACED)
    database = Database(database_url, size=6)
    dropping = asyncio.create_task(_drop_again_and_again(admin))
    while not dropping.done():
        rows = await asyncio.gather(*(database.rows("select * from replaced($1)", 3) for _ in range(6)))
        assert [[row["n"] for row in each] for each in rows] == [[3]] * 6
    await dropping
    await database.close()
    await admin.close()


async def _drop_again_and_again(admin: "asyncpg.Connection[asyncpg.Record]") -> None:
    for _ in range(300):
        await admin.execute(_REPLACED)


_FAILS_ONCE = """
create sequence tries;
grant usage on sequence tries to onevalet_app;
create function fails_once() returns int language plpgsql as $$
begin
    if nextval('tries') = 1 then
        raise exception 'shutting down' using errcode = 'admin_shutdown';
    end if;
    return 1;
end $$;
"""
_GONE = "drop function if exists fails_once(); drop sequence if exists tries"


async def test_a_repeated_statement_outlives_a_server_that_went_away(database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    database = Database(database_url, size=1)
    try:
        for ask, outlives in ((database.tenant_rows, False), (database.repeat, True)):
            await admin.execute(f"{_GONE}; {_FAILS_ONCE}")
            with nullcontext() if outlives else pytest.raises(StoreUnavailable):
                [row] = await ask("ann", "select $1 as one, fails_once()")
                assert row["one"] == "ann"
    finally:
        await admin.execute(_GONE)
        await database.close()
        await admin.close()
