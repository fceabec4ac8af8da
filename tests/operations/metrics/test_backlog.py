"""The gauges of the database: what waits and for how long, and nothing old when it is away."""

from datetime import timedelta
from functools import partial
from math import inf

import asyncpg
import pytest

from channels.poll_lease import PollLease
from core.db.database import Database
from core.messaging.stalls import FRESH, OLDEST
from operations.metrics.backlog import Backlog
from tests.core.harness import Store

ANN = "+15550000001"


def values(text: bytes) -> dict[str, float]:
    """Return each sample by its name and labels as they are written."""
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


async def test_an_empty_database_has_nothing_that_waits(store: Store) -> None:
    read = values(await Backlog(store.database).text())
    assert read["onevalet_database_up"] == 1
    assert read["onevalet_waiting_messages"] == read["onevalet_oldest_waiting_seconds"] == 0
    assert read["onevalet_workers"] == 0


async def test_the_oldest_message_has_the_age_that_the_database_gives_it(store: Store) -> None:
    await store.say("anybody there?", sender=ANN)
    await store.admin.execute("update lanes set pending_since = now() - interval '10 minutes' where pending")
    read = values(await Backlog(store.database).text())
    assert read["onevalet_waiting_messages"] == 1
    assert read["onevalet_oldest_waiting_seconds"] == pytest.approx(600, abs=60)


async def test_an_unsent_answer_has_its_age(store: Store) -> None:
    await store.enqueue("hello")
    await store.admin.execute("update outbound set created_at = now() - interval '10 minutes'")
    read = values(await Backlog(store.database).text())
    assert read["onevalet_unsent_messages"] == 1
    assert read["onevalet_oldest_unsent_seconds"] == pytest.approx(600, abs=60)


async def test_a_part_that_fails_on_two_workers_is_told_once_at_its_worst(store: Store) -> None:
    for worker, failures in (("a", 2), ("b", 5)):
        failing = [{"part": "new mail", "failures": failures, "cause": "OSError", "at": "2026-01-01T00:00:00Z"}]
        await store.database.call("select note_worker($1,$2,$3)", worker, 0.0, failing)
    read = values(await Backlog(store.database).text())
    assert read["onevalet_workers"] == 2
    assert read['onevalet_part_failures{part="new mail"}'] == 5


@pytest.mark.parametrize(
    ("problem", "lease", "stalled"),
    [("", "15 seconds", 0), ("409: another program", "15 seconds", 1), ("", "-1 second", 1)],
    ids=["polls", "conflict", "died"],
)
async def test_a_poller_with_a_problem_or_without_a_process_stalls(
    store: Store, problem: str, lease: str, stalled: int
) -> None:
    polling = PollLease(store.database, channel="telegram", account="7", owner="web-1")
    await polling.claim()
    await polling.keep(1, problem)
    await store.admin.execute("update channel_state set lease_until = clock_timestamp() + $1::text::interval", lease)
    read = values(await Backlog(store.database).text())
    assert read['onevalet_poller_stalled{channel="telegram"}'] == stalled


async def test_a_poller_that_gave_its_lease_back_is_not_told(store: Store) -> None:
    polling = PollLease(store.database, channel="telegram", account="7", owner="web-1")
    await polling.claim()
    await polling.release()
    assert "onevalet_poller_stalled" not in str(values(await Backlog(store.database).text()))


async def test_without_a_database_only_that_is_told() -> None:
    nowhere = Database("postgresql://onevalet@127.0.0.1:1/onevalet", patience=0.1)
    read = values(await Backlog(nowhere).text())
    await nowhere.close()
    assert read == {"onevalet_database_up": 0}


async def test_several_scrapes_within_seconds_ask_the_database_once(store: Store) -> None:
    class Counting(Database):
        asked = 0

        async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
            Counting.asked += "count_work" in statement
            return await super().rows(statement, *args)

    now = 0.0
    database = Counting(store.url)
    backlog = Backlog(database, lambda: now)
    for _ in range(3):
        await backlog.text()
    assert Counting.asked == 1
    now = FRESH + 1
    await backlog.text()
    await database.close()
    assert Counting.asked == 2


async def test_the_newest_backup_has_its_age_and_its_schedule(store: Store) -> None:
    backlog = partial(Backlog, store.database)
    read = values(await backlog().text())
    assert (read["onevalet_backup_age_seconds"], read["onevalet_backup_every_seconds"]) == (inf, 0)
    await store.admin.execute(
        "insert into backups (id, worker, began_at, finished_at, file, bytes, failure, lease_until)"
        " values ('bak_1', 'w', now() - interval '2 days', now(), 'f', 1, '', now()),"
        " ('bak_2', 'w', now() - interval '1 day', now(), 'f', 1, '', now()),"
        " ('bak_3', 'w', now(), now(), '', 0, 'OSError', now())"
    )
    read = values(await backlog(backups_every=timedelta(hours=12)).text())
    assert read["onevalet_backup_age_seconds"] == pytest.approx(86_400, abs=600)
    assert read["onevalet_backup_every_seconds"] == 43_200


async def test_no_large_table_is_read_from_end_to_end(store: Store) -> None:
    await store.enqueue("hello")
    connection = await asyncpg.connect(store.url)
    await connection.execute("set enable_seqscan = off")  # so few rows are read through, unless there is no other way
    async with connection.transaction():
        for statement in ("select * from count_work()", OLDEST):
            await connection.fetch(statement)
        scanned = await connection.fetch("select relname::text from pg_stat_xact_user_tables where seq_scan > 0")
    await connection.close()
    assert {"inbound", "outbound", "turns", "lanes"} & {row["relname"] for row in scanned} == set()
