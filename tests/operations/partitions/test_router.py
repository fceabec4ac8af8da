"""The router knows every call of the way in, and leads each to the person's partition."""

import re
from collections.abc import Iterator
from pathlib import Path

from operations.partitions.router import OWN, ROUTES, SQL
from tests.core.harness import Store
from tests.forker import ROOT

WAY_IN = ("core/inbox", "channels/sms", "channels/slack", "channels/telegram", "channels/email")
ALONE = ("jobs/upkeep/catchup.py", "channels/poll_lease.py", "abilities/events/sources.py")
"""Files of other rooms whose calls are of the way in as well."""


def files() -> Iterator[Path]:
    for folder in WAY_IN:
        yield from (ROOT / folder).glob("*.py")
    yield from (ROOT / name for name in ALONE)


async def test_every_function_that_the_way_in_calls_is_routed(store: Store) -> None:
    ours = set(await store.column("select proname::text from pg_proc where pronamespace = 'public'::regnamespace"))
    called = {
        name
        for path in files()
        for text in re.findall(r'"([^"]*)"', path.read_text())
        for name in re.findall(r"\b(\w+)\(", text)
        if name in ours
    }
    assert {"receive_messages", "claim_catch_up", "apply_status", "language_at"} <= called
    assert called - OWN - set(ROUTES) == set()
    assert set(ROUTES) - ours == set()


async def test_every_route_names_arguments_that_the_function_has(store: Store) -> None:
    for name, route in ROUTES.items():
        names = await store.column("select unnest(proargnames)::text from pg_proc where proname = $1", name)
        assert set(re.findall(r"\bp_\w+", route)) <= set(names), name


async def test_what_the_router_has_of_its_own_looks_like_the_partitions(store: Store) -> None:
    sql = SQL.read_text()
    for name in ("receive_messages", "link_stranger", "console_oldest", "probe_write"):
        assert f"create function {name}(" in sql
        columns = await store.one("select pg_get_function_result(oid) from pg_proc where proname = $1", name)
        told = re.search(rf"create function {name}\((.*?)\nlanguage", sql, re.DOTALL)
        assert told
        for column in re.findall(r"(\w+) (?:text|boolean|jsonb|timestamp)", str(columns)):
            assert column in told[1], f"{name} tells no {column}"
