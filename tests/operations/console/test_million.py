"""A great many messages: what each page of the console reads, and the pages that follow one another."""

import re

import asyncpg
import pytest

from onevalet.migrating import migrate
from tests.core.harness import opened
from tests.examples import sized
from tests.explained import ExplainedDatabase, explain
from tests.million import HEAVY, LARGE, PEOPLE, fill
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, open_console
from tests.services import private_postgres

TURNS = sized(100_000, full=500_000)
"""With two messages each: the full size is a million, by `bin/test -m slow --full tests/operations/console`."""
MOST_ROWS = 80_000
"""Rows of a million that the statements of a page may look at: 100,000 take 25 to 45 ms of Postgres' CPU."""
OLD = TURNS * 9 // 500
"""The place of an old message among those of the heaviest conversation."""
_HEAVY_SENDER = f"+1666{HEAVY.removeprefix('tn_')}"

OF_OPERATORS = {
    "conversations": "/console/conversations",
    "conversations of a channel": "/console/conversations?channel=slack",
    "a conversation": f"/console/conversations/{HEAVY}/cnv_idn_{HEAVY}sms",
    "an old page of it": f"/console/conversations/{HEAVY}/cnv_idn_{HEAVY}sms?before={OLD}.{OLD}",
    "a turn": f"/console/turns/trn_{TURNS // 2:07}",
    "what waits": "/console/waiting",
    "tasks": "/console/tasks",
    "tasks as a calendar": "/console/tasks?view=calendar&state=PAUSED",
    "a task": f"/console/tasks/{HEAVY}/tsk_0",
    "search: a rare word": "/console/search?q=boiler",
    "search: a word of a hundred": "/console/search?q=plumber",
    "search: a word of two": "/console/search?q=today",
    "search: nothing": "/console/search?q=zeppelin",
    "cost of 7 days": "/console/cost?days=7",
    "cost of 90 days": "/console/cost?days=90",
    "health": "/console/health",
    "deliveries": "/console/deliveries",
    "stops": "/console/deliveries/stops",
    "people": "/console/people",
    "a person": f"/console/people/{HEAVY}",
    "a person's memory": f"/console/people/{HEAVY}/memory",
}
OF_ONE = (
    "conversations",
    "a conversation",
    "a turn",
    "what waits",
    "tasks",
    "a task",
    "search: a rare word",
    "search: a word of a hundred",
    "search: a word of two",
    "search: nothing",
    "cost of 90 days",
)
"""Pages that the person with very many messages opens."""


@pytest.mark.slow
@pytest.mark.timeout(900, func_only=True)
@pytest.mark.filterwarnings("ignore:.*active log listener")
async def test_no_page_reads_much_of_all_messages() -> None:
    # The messages need not outlive a crash, and are analyzed once all are there.
    quickly = private_postgres(fsync="off", full_page_writes="off", max_wal_size="8GB", autovacuum="off")
    async with quickly as postgres:
        await migrate(postgres.url)
        await fill(postgres.url, TURNS)
        admin = await asyncpg.connect(postgres.url)
        await explain(admin, on=True)
        database = ExplainedDatabase(postgres.url)
        async with opened(postgres.url, database) as store, open_console(store, texts=True) as console:
            for sender, pages in ((ANN, tuple(OF_OPERATORS)), (_HEAVY_SENDER, OF_ONE)):
                async with console.browser(sender) as browser:
                    for page in pages:
                        await _reads_little(browser, database, page)
            async with console.browser(ANN) as browser:
                await _pages_follow_one_another(browser)
        await admin.close()


async def _reads_little(browser: Browser, database: ExplainedDatabase, page: str) -> None:
    for _ in range(6):  # from the sixth time on a plan may be one for all questions
        database.scans.clear()
        assert await browser.get(OF_OPERATORS[page]) == 200, page
    assert database.scans, "nothing was explained"
    whole = {(scan.table, scan.statement) for scan in database.scans if scan.how == "Seq Scan" and scan.table in LARGE}
    assert not whole, f"{page} reads a table from end to end"
    rows = sum(scan.rows for scan in database.scans)
    # What was spent has rows by person and day, however many messages those had.
    most = MOST_ROWS if page.startswith("cost") else MOST_ROWS * TURNS // 500_000
    assert rows < most, (page, sorted(database.scans, key=lambda scan: -scan.rows)[:3])
    print(f"{page}: {rows} rows")  # noqa: T201


async def _pages_follow_one_another(browser: Browser) -> None:
    """Walk through a list by its links: each row once, none left out."""
    seen: list[str] = []
    address = "/console/conversations"
    while address:
        await browser.get(address)
        seen += re.findall(r"/console/conversations/tn_\d{4}/\w+", browser.page)
        address = next(iter(browser.links("/console/conversations?")), "")
    assert len(seen) == len(set(seen)) == 2 * PEOPLE
