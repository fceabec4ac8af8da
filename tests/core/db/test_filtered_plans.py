"""Statements whose filters may be left out, over 100,000 rows: planned once for any values, or for each call.

The serving role plans generically, so no index finds a filter behind a parameter unless the statement sees to that.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import MappingProxyType

import asyncpg
import pytest

from onevalet.migrating import all_functions, migrate
from tests.explained import ExplainedDatabase, explain
from tests.million import run_alone
from tests.services import private_postgres

ROWS, MOST_ROWS = 100_000, 800
CALLS = MappingProxyType(
    {
        # console.sql
        "the conversations of everybody": "console_conversations('', null, '', 50)",
        "the conversations of a channel": "console_conversations('slack', null, '', 50)",
        "more of them": "console_conversations('', now() - interval '20 days', 'id_1', 50)",
        "people": "console_people(null, '', 50)",
        "more people": "console_people(now() - interval '20 days', 'tn_1', 50)",
        "the oldest of what waits": "console_oldest()",
        "what waits": "console_waiting(null, '', 50)",
        "more that waits": "console_waiting(now() - interval '20 days', 'id_1', 50)",
        "lapsed leases": "console_strain('1 minute')",
        "what ended badly": "console_unsettled('1 day')",
        "what was given up": "console_given_up('1 day')",
        # deliveries.sql
        "messages that did not arrive": "find_unsettled('', '', null, '', 50)",
        "those of a state": "find_unsettled('', 'failed', null, '', 50)",
        "those of a person": "find_unsettled('tn_400', '', null, '', 50)",
        "held news": "find_held_people(50)",
        "who said STOP": "list_consents('', null, 50)",
        "whether a person said it": "list_consents('tn_400', null, 50)",
        # consents.sql
        "the approval behind a consent": (
            'grant_consent(\'tn_400\', \'{"id": "new", "turn_id": "id_20001", "agent": "send_email",'
            ' "asked": {}, "sealed": "{}", "hash": "h", "told": "digest", "max_uses": 1,'
            ' "expires_at": "2030-01-01"}\', 5, now())'
        ),
        "a consent's use": 'use_consent(\'tn_2\', \'{"consent_id": "id_101", "hash": "h"}\', \'\', now())',
        "the end of a consent by its number": "end_consents('tn_2', 101, null, 'ended', '', '', now())",
        "the end of a consent by its id": "end_consents('tn_3', null, 'id_201', 'ended', '', '', now())",
        "the end of all consents": "end_consents('tn_4', null, null, 'ended', '', '', now())",
        "consents whose time is over": "tidy_consents(now(), now() - interval '1 year')",
        # undo.sql
        "the newest that can be undone": "take_undo('tn_2', null, 'call', now())",
        "a number that can be undone": "take_undo('tn_2', 110, 'other call', now())",
        "offers to undo": 'offer_undo(\'tn_1\', \'id_7\', \'c\', \'[{"title": "T", "tool": "t", "arguments": {},'
        ' "until": "2030-01-01", "made_at": "2029-01-01"}]\')',
        "offers that are over": "drop_undo(now() - interval '1 day')",
        # storage.sql
        "a stored value": "read_values('tn_1', 'notes', 'id_7')",
        "a collection": "read_values('tn_400', 'notes', null)",
        "a value to store": "put_value('tn_1', 'notes', 'id_7', '{}')",
        "a value to swap": "swap_value('tn_1', 'notes', 'id_7', '{}', '{}')",
        "a call to keep": "keep_call('tn_1', 'notes', 'id_7', '{}')",
        "a value to delete": "delete_value('tn_1', 'notes', 'id_8')",
        # events.sql
        "an event": "publish_event('tn_1', 'mail', 'new', 'newer', 't', '{}', now())",
        "the next event": "claim_next_event('tasks', 'w', '1 minute')",
        "an event by its id": "claim_event('tn_1', 'mail', 'id_101', 'tasks', 'w2', '1 minute')",
        "the end of an event": "end_event('tn_1', 'mail', 'id_101', 'tasks', 'w2', 'done', '', '0')",
        "old events": "prune_events(now() - interval '60 days', 50)",
        "old messages": "prune_messages(now() - interval '60 days', 50)",
        "old prompts": "prune_prompts(now() - interval '60 days', 50)",
        "old notifications": "prune_notifications(now() - interval '60 days', 50)",
        "mailboxes to read": "claim_mail_watches('w', '1 minute', 10)",
        "people whose follow-ups are looked at": "claim_followups(now() + interval '1 day', 50)",
        "what is due": "what_is_due(now())",
        # operations.sql, approvals.sql, tasks.sql
        "a trace": "find_trace('id_7')",
        "work that is counted": "count_work()",
        "trouble": "find_trouble(50)",
        "what was given up lately": "count_given_up('1 day')",
        "approvals that wait": "find_pending('', 50)",
        "an approval by its code": "find_pending('id_1', 50)",
        "tasks": "console_tasks('', '', '', 50)",
        "tasks of a state": "console_tasks('PAUSED', '', '', 50)",
    }
)

READ_ALL = MappingProxyType(
    {
        "the conversations of everybody": "an index on their last message would be written with each message",
        "the conversations of a channel": "as above",
        "more of them": "as above",
        "consents whose time is over": "a worker does it now and then",
    }
)
"""Those that read a table from end to end, and why they may."""

_BATCH = re.compile(r"\blimit p_limit\b")
_WRITE = re.compile(r"\b(delete from|update \w+ \w+\s+set)\b")
_FUNCTION = re.compile(r"^(?=create )", re.MULTILINE)


def test_what_writes_a_batch_plans_for_the_size_of_each() -> None:
    functions = [function for file in all_functions() for function in _FUNCTION.split(file.sql)]
    batches = [function for function in functions if _BATCH.search(function) and _WRITE.search(function)]
    assert batches
    # Without its size a batch counts as a tenth of the table, which is then read from end to end for each.
    assert [function.partition("(")[0] for function in batches if "force_custom_plan" not in function] == []


@pytest.fixture(scope="module")
async def filled() -> AsyncIterator[str]:
    """Yield the URL of a database with so many rows, which explains what it does."""
    async with private_postgres(fsync="off", full_page_writes="off", autovacuum="off", max_wal_size="4GB") as postgres:
        await migrate(postgres.url)
        await run_alone(postgres.url, Path(__file__).with_name("filtered_rows.sql").read_text())
        await run_alone(postgres.url, "vacuum analyze")
        admin = await asyncpg.connect(postgres.url)
        await explain(admin, on=True)
        await admin.close()
        yield postgres.url


@pytest.fixture
async def database(filled: str) -> AsyncIterator[ExplainedDatabase]:
    database = ExplainedDatabase(filled)
    yield database
    await database.close()


@pytest.mark.slow
@pytest.mark.xdist_group("filtered plans")
@pytest.mark.timeout(600, func_only=True)
@pytest.mark.filterwarnings("ignore:.*active log listener")
@pytest.mark.parametrize("called", CALLS)
async def test_a_filter_finds_its_rows_by_an_index(called: str, database: ExplainedDatabase) -> None:
    await database.rows(f"select * from {CALLS[called]}")  # noqa: S608 - ours, from above
    rows = sum(scan.rows for scan in database.scans)
    if called in READ_ALL:
        assert rows >= ROWS, "it reads few rows now: take it out of READ_ALL"
    else:
        assert rows <= MOST_ROWS, sorted(database.scans, key=lambda scan: -scan.rows)[:3]
