"""A halt of all work reaches every partition, survives one that is away, and is lifted in all of them."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from abilities.halts.everywhere import HaltsEverywhere
from abilities.halts.halts import Halts
from core.db.database import Database
from core.errors import ConfigError
from onevalet.servers.postgres import Postgres
from operations.partitions.router import Login, make_router
from tests.faults.partitions.halves import LOGIN, kill, make_partition
from tests.servers.plproxy import empty_router, programs
from tests.services import private_postgres

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]


@dataclass(frozen=True, slots=True)
class Half:
    """A partition: its server, and its halts as its workers know them."""

    server: Postgres
    halts: Halts
    work: HaltsEverywhere


@asynccontextmanager
async def halved() -> AsyncIterator[tuple[Half, Half]]:
    """Yield two partitions behind a router."""
    login, opened = Login(LOGIN, "secret"), list[Database]()

    def database(url: str) -> Database:
        opened.append(Database(url, patience=2.0))
        return opened[-1]

    async with empty_router() as router, private_postgres() as first, private_postgres() as second:
        for number, server in enumerate((first, second)):
            await make_partition(server.url, number, login)
        await make_router(router, (first.url, second.url), login)
        try:
            halves = list[Half]()
            for server in (first, second):
                known = database(_served(server.url, login))
                halves.append(Half(server, Halts(known), HaltsEverywhere(known, database(router))))
            one, two = halves
            yield one, two
        finally:
            for each in opened:
                await each.close()


def _served(url: str, login: Login) -> str:
    return f"postgresql://{login.name}:{login.password}@{url.rpartition('@')[2]}"


async def test_a_halt_reaches_every_partition_and_is_lifted_in_all() -> None:
    try:
        programs()
    except ConfigError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))
    async with halved() as (one, two):
        begun = await one.halts.begin()
        assert await two.halts.now() is None
        await two.work.follow()
        followed = await two.halts.now()
        assert followed is not None
        assert (followed.code, followed.how) == (begun.code, begun.how)
        # Lifted where it came to: it is lifted where it began, and comes back to neither.
        assert await two.halts.lift()
        for half in (two, one, two):
            await half.work.follow()
        assert (await one.halts.now(), await two.halts.now()) == (None, None)
        # Of two that began at once, each is lifted by itself.
        codes = {(await half.halts.begin()).code for half in (one, two)}
        for half in (one, two):
            await half.work.follow()
        assert {halt.code for half in (one, two) if (halt := await half.halts.now())} == codes
        assert await one.halts.lift()
        await one.work.follow()
        again = await one.halts.now()
        assert again is not None
        # One that is away changes nothing for the other, which goes on asking.
        await kill(one.server)
        await two.work.follow()
        lasting = await two.halts.now()
        assert lasting is not None
        assert lasting.code == again.code
