"""Groups are off where people are divided over databases: a member may be elsewhere than the group."""

from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any, cast

from pydantic import SecretStr
from structlog.testing import capture_logs

from abilities.groups.ability import ABILITY
from operations.partitions.router import _SIGNATURE, ROUTES, _wrapper
from tests.core.harness import Store


async def test_a_worker_of_a_partition_says_so_and_settles_no_group() -> None:
    settings = SimpleNamespace(onevalet_router_url=SecretStr("postgresql://router"))
    foundation = cast(Any, SimpleNamespace(settings=settings))
    assert ABILITY.work
    assert ABILITY.services
    async with AsyncExitStack() as stack:
        with capture_logs() as logs:
            assert ABILITY.work(stack, foundation) == []
        assert ABILITY.services(stack, foundation) == {}
    assert [line["event"] for line in logs] == ["groups_off"]


async def test_the_router_takes_no_part_in_any_group(store: Store) -> None:
    (signature,) = await store.admin.fetch(_SIGNATURE, "take_in_group")
    transaction = store.admin.transaction()
    await transaction.start()
    try:
        made = _wrapper("take_in_group", ROUTES["take_in_group"], signature)
        await store.admin.execute(made.replace("create function", "create or replace function"))
        assert await store.admin.fetch("select * from take_in_group('{}', '{}', 1, 1)") == []
    finally:
        await transaction.rollback()
