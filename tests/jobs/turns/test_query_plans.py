"""The plans of all that a message runs in Postgres, within functions too, where there are many messages.

auto_explain tells the plans as they run, so they are those of the serving role, for any values.
"""

from collections.abc import AsyncIterator, Iterable
from functools import partial
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

import asyncpg
import pytest

from onevalet.migrating import migrate
from tests.contract.canaries import PEOPLE, TWILIO
from tests.explained import ExplainedDatabase, Scan, explain
from tests.jobs.turns.test_turn_cost import Metered, open_metered
from tests.million import HEAVY, fill
from tests.services import private_postgres

TURNS, COPY = 25_000, "many_copied"
MANY = 500
"""Rows of a table that is large: as many as there are people, at least."""
MOST_ROWS = 120
"""Rows that a statement may look at in a table; a turn reads up to 100 of its conversation's history."""
SMALL = MappingProxyType(
    {
        "channel_state": "a row for each account of a channel",
        "deletion_secret": "one row",
        "group_chats": "a row for each group",
        "halts": "a row for each time that operators halted all work",
        "household_news": "deleted as soon as it is told",
        "segments_of_all": "a row for each day",
        "waiting_counts": "a row for each process that counts at once",
        "webhook_endpoints": "a row for each address that operators gave",
    }
)
"""The tables that a message may read from end to end, and why they stay small."""
INDEXES = frozenset(
    {
        # The turn: its lane, its messages, its history, and what waits for the person's word.
        "lanes_pending", "lanes_busy", "inbound_waiting", "inbound_turn", "history_pkey", "steps_pkey",
        "approvals_code", "approvals_turn", "pool_entries_turn", "profile_facts_in_force", "memories_unread",
        "memory_forgettings_pkey", "task_runs_turn", "turns_quarantined", "turns_ready", "tasks_events",
        # The way in.
        "directory_pkey", "conversations_place_key", "identities_pkey", "ignored_messages_pkey",
        "inbound_tenant_id_conversation_id_seq_key",
        # The delivery, and what the provider tells of it.
        "outbound_conversation", "outbound_due", "outbound_given_up", "outbound_growing", "outbound_turn",
        "outbound_parts_pkey", "outbound_parts_ref_key", "outbound_parts_provider", "deliveries_pkey",
        "segment_days_pkey",
        # What is due.
        "approvals_due", "credentials_to_attend", "event_work_waiting", "mail_watches_free", "memory_jobs_due",
        "notifications_failed", "notifications_held", "notifications_open", "notifications_silent", "outbound_held",
        "pool_entries_due", "profile_jobs_due", "redraws_due", "reminder_wishes_open",
        "run_notices_open", "seen_places_new", "tasks_due", "webhook_messages_due",
    }
)  # fmt: skip
"""The indexes that a message needs. Of two that serve alike, such as `lanes_id` and `lanes_pkey`, neither is here."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("model"),
    pytest.mark.timeout(900, func_only=True),
    pytest.mark.filterwarnings("ignore:.*active log listener"),
]

type Admin = asyncpg.Connection[asyncpg.Record]


@pytest.fixture(scope="module")
async def filled() -> AsyncIterator[str]:
    """Yield the URL of a database with very many messages of the person who writes, and some of others."""
    person = next(each.phone for each in PEOPLE if each.key == "ada")
    names = {":account": TWILIO.number, ":person": person, ":identity": f"idn_{HEAVY}sms"}
    more = Path(__file__).with_name("other_rows.sql").read_text()
    for name, value in names.items():
        more = more.replace(name, f"'{value}'")
    async with private_postgres(fsync="off", full_page_writes="off", autovacuum="off") as postgres:
        await migrate(postgres.url)
        await fill(postgres.url, TURNS, more)
        yield postgres.url


@pytest.fixture
async def many(filled: str) -> AsyncIterator[str]:
    """Yield the URL of a copy of it."""
    async with asyncpg.create_pool(urlsplit(filled)._replace(path="/template1").geturl(), min_size=0) as server:
        await server.execute(f"create database {COPY} template {urlsplit(filled).path[1:]} strategy file_copy")
        yield urlsplit(filled)._replace(path=f"/{COPY}").geturl()
        await server.execute(f"drop database {COPY} with (force)")


@pytest.fixture
async def admin(many: str) -> AsyncIterator[Admin]:
    connection = await asyncpg.connect(many)
    yield connection
    await connection.close()


async def test_a_message_finds_its_rows_by_the_indexes_that_are_for_it(
    many: str, admin: Admin, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = await read_by_a_message(many, admin, redis_url, tmp_path, monkeypatch)
    assert await too_much(admin, scans) == []
    assert missed(scans) == set()


@pytest.mark.parametrize(
    "index", ["inbound_turn", "outbound_given_up", "outbound_parts_provider", "memory_jobs_due", "lanes_pending"]
)
async def test_an_index_that_is_gone_is_missed(
    index: str, many: str, admin: Admin, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admin.execute(f"drop index {index}")
    scans = await read_by_a_message(many, admin, redis_url, tmp_path, monkeypatch)
    assert missed(scans) == {index}
    assert await too_much(admin, scans)


async def read_by_a_message(
    url: str, admin: Admin, redis_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> list[Scan]:
    """Return all that a message with two tools reads, from receipt to the provider's word that it has arrived."""
    scans: list[Scan] = []
    for name in ("onevalet.wiring.connections.Database", "tests.core.harness.Database"):
        monkeypatch.setattr(name, partial(ExplainedDatabase, scans=scans))
    await explain(admin, on=True)
    async with open_metered(url, redis_url, home, monkeypatch) as running:
        await answer(running, "hello")  # what is prepared and remembered once
        await running.harness.settled()
        scans.clear()
        await answer(running, "add")
        await running.harness.settled()
        await running.store.database.rows("select * from what_is_due(now())")
    assert scans, "nothing was explained"
    return scans


async def answer(running: Metered, words: str) -> None:
    """Let the person with very many messages write, and the worker answer."""
    await running.harness.said(words)
    lane = f"cnv_idn_{HEAVY}sms"
    lease = await running.parts.turns.claim(lane)
    assert lease is not None
    await running.parts.turns.run(lease)
    await running.sending.room()


async def too_much(admin: Admin, scans: Iterable[Scan]) -> list[Scan]:
    """Return those that read a large table from end to end, or too many rows; each table is large, or is in `SMALL`."""
    large = {
        str(row["relname"])
        for row in await admin.fetch("select relname from pg_class where relkind = 'r' and reltuples >= $1", MANY)
    }
    read = [scan for scan in scans if scan.how != "ModifyTable"]
    assert {scan.table for scan in read} - large == set(SMALL), "a table of other_rows.sql, or one more of SMALL"
    return [scan for scan in read if scan.rows > MOST_ROWS or (scan.how == "Seq Scan" and scan.table in large)]


def missed(scans: Iterable[Scan]) -> set[str]:
    """Return the indexes that no statement used."""
    return set(INDEXES) - {index for scan in scans for index in scan.indexes}
