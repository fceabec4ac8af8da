"""Receipts outlive the journal, to the word, and end with the audit; what is forgotten is forgotten there too."""

import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from abilities.receipts.receipts_file import verify
from jobs.upkeep.retention import Retention, RetentionPeriods
from tests.abilities.receipts.acting import MAIL, file_bytes, open_acting, receipts_of, tenant_of
from tests.clocks import StandingClock
from tests.contract.approving import Approving
from tests.contract.test_standing_consent import POST, grants, posts
from tests.core.builders import says, wants

DAY = timedelta(days=1)


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield a person in whose name something was done in each way."""
    async with open_acting("sms", database_url) as system:
        for name, arguments in (("send_mail", MAIL), ("launch", {"what": "kite"}), ("jot", {"text": "milk"})):
            system.clock.move(timedelta(seconds=1))
            system.model.script[:] = [wants((name, dict(arguments))), says("Done.")]
            await system.say(f"please {name}")
            if name != "jot":
                await system.decide("Approve")
        await grants(system)
        await posts(system, POST)
        yield system


def retention_of(system: Approving, days: int, periods: RetentionPeriods | None = None) -> Retention:
    """Return the retention so many days from now."""
    store = system.delivery.store
    at = StandingClock(datetime.now(UTC) + days * DAY)
    return Retention(store.database, at, store.make_id, periods or RetentionPeriods())


async def counted(system: Approving) -> tuple[int, int]:
    """Return the number of effects in the journal, and of receipts that are kept apart from it."""
    row = await system.delivery.store.admin.fetchrow(
        "select (select count(*) from steps where effect <> 'read') as journal, (select count(*) from receipts) as kept"
    )
    assert row is not None
    return row["journal"], row["kept"]


async def test_receipts_are_the_same_before_and_after_each_deletion(system: Approving) -> None:
    before = [receipt.told for receipt in await receipts_of(system)]
    assert len(before) == 5
    assert await counted(system) == (5, 0)
    await retention_of(system, 91).prune_journals()
    assert await counted(system) == (1, 5), "the unknown outcome is still in the journal"
    assert [receipt.told for receipt in await receipts_of(system)] == before
    await retention_of(system, 91).prune_journals()
    await retention_of(system, 366).prune_messages()
    assert await counted(system) == (0, 5)
    assert [receipt.told for receipt in await receipts_of(system)] == before
    assert verify(io.BytesIO(await file_bytes(system))).receipts == 5
    await retention_of(system, 729).prune_audit()
    assert await counted(system) == (0, 5)
    await retention_of(system, 731).prune_audit()
    assert await counted(system) == (0, 0)


async def test_receipts_stay_where_messages_go_before_journals(system: Approving) -> None:
    before = [receipt.told for receipt in await receipts_of(system)]
    periods = RetentionPeriods(messages=31 * DAY)
    await retention_of(system, 32, periods).prune_messages()
    assert await counted(system) == (0, 5)
    assert [receipt.told for receipt in await receipts_of(system)] == before


async def test_a_consent_stays_as_long_as_the_journal_of_its_use(system: Approving) -> None:
    store = system.delivery.store
    await store.database.rows(
        "select * from end_consents($1,null,null,'withdrawn','','',$2)", await tenant_of(system), system.clock.now()
    )
    later = system.clock.now() + 1000 * DAY
    before = [receipt.told for receipt in await receipts_of(system)]
    await store.database.one("select * from tidy_consents($1,$1)", later)
    assert [receipt.told for receipt in await receipts_of(system)] == before
    await retention_of(system, 91).prune_journals()
    await store.database.one("select * from tidy_consents($1,$1)", later)
    assert await store.db.standing_consents.count() == 0
    assert [receipt.told for receipt in await receipts_of(system)] == before


@pytest.mark.parametrize("pruned", [False, True])
async def test_forgotten_words_are_in_no_receipt_and_the_rest_stays(system: Approving, pruned: bool) -> None:
    numbers = [receipt.number for receipt in await receipts_of(system)]
    if pruned:
        await retention_of(system, 91).prune_journals()
        await retention_of(system, 366).prune_messages()
    assert await system.delivery.store.database.one("select redact($1,$2) as gone", await tenant_of(system), ["Lunch"])
    receipts = await receipts_of(system)
    assert [receipt.number for receipt in receipts] == numbers
    assert not any("Lunch" in str(receipt.told) for receipt in receipts)
    assert sum(receipt.card is not None and receipt.card.sealed == "[forgotten]" for receipt in receipts) == 1
    assert verify(io.BytesIO(await file_bytes(system))).forgotten == 1


async def test_a_forgotten_year_leaves_receipts_whole_but_for_words(system: Approving) -> None:
    await retention_of(system, 91).prune_journals()
    await retention_of(system, 366).prune_messages()
    before = [receipt.told for receipt in await receipts_of(system)]
    # Times, a channel, a tool, an outcome and states: no word of a person's.
    forgotten = [str(datetime.now(UTC).year), "sms", "send_mail", "ok", "tool", "code"]
    assert await system.delivery.store.database.one("select redact($1,$2) as gone", await tenant_of(system), forgotten)
    after = [receipt.told for receipt in await receipts_of(system)]
    for was, told in zip(before, after, strict=True):
        words = {"asked", "answer", "card"}
        assert {key: value for key, value in told.items() if key not in words} == {
            key: value for key, value in was.items() if key not in words
        }
    assert verify(io.BytesIO(await file_bytes(system))).forgotten == 0


async def test_receipts_go_with_their_person(system: Approving) -> None:
    await retention_of(system, 91).prune_journals()
    assert await counted(system) == (1, 5)
    await system.delivery.store.db.tenants.delete(tenant_id=await tenant_of(system))
    assert await counted(system) == (0, 0)


async def test_the_receipts_of_a_tasks_run_outlive_it(system: Approving) -> None:
    store, tenant = system.delivery.store, await tenant_of(system)
    before = len(await receipts_of(system))
    for statement in (
        "insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at)"
        " values ($1, 't', 1, 'T', 'schedule', '{}', now(), now())",
        "insert into lanes (tenant_id, id) values ($1, 'r')",
        "insert into turns (tenant_id, id, lane_id, state, fence, finished_at)"
        " values ($1, 'turn_r', 'r', 'done', 1, now())",
        "insert into steps (tenant_id, turn_id, step, call_index, kind, name, effect, state, outcome, result)"
        " values ($1, 'turn_r', 0, 1, 'tool', 'ring', 'once', 'done', 'ok', '{\"text\": \"Rang.\"}')",
        "insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, turn_id, finished_at)"
        " values ($1, 'r', 't', 'o', now(), 'COMPLETED', 'turn_r', now())",
    ):
        await store.admin.execute(statement, tenant)
    whole = [receipt.told for receipt in await receipts_of(system)]
    assert len(whole) == before + 1
    assert whole[-1]["asked_on"] == "task"
    await store.database.one("select * from prune_runs('-1 day', 10)")
    assert await store.db.turns.count(id="turn_r") == 0
    assert [receipt.told for receipt in await receipts_of(system)] == whole
