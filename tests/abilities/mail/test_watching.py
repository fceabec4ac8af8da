"""New mail becomes events: none missed, none twice, on a real Dovecot."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from abilities.events.types import Event
from abilities.mail.probes import check_mailboxes
from abilities.mail.watches import MailWatches
from core.errors import LeaseLost
from core.json_types import JsonObject
from operations.paths.trace import trace
from tests.abilities.mail.mail_harness import MailHarness, age, mail, open_mail
from tests.core.harness import Store
from tests.eventually import eventually
from tests.servers.dovecot import Dovecot

ENDED = "select count(*) from mail_watches where ended"


@pytest.fixture
async def harness(store: Store, dovecot: Dovecot, redis_url: str) -> AsyncIterator[MailHarness]:
    """Yield a person with a mailbox that is not connected yet."""
    async with open_mail(store, dovecot, redis_url) as harness:
        yield harness


async def test_new_mail_is_an_event_and_old_mail_is_none(harness: MailHarness) -> None:
    harness.deliver("old 1", "old 2")
    age(harness.dovecot, harness.address)
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker():
        await harness.watched()
        harness.deliver("new 1", "new 2")
        await harness.has("new 1", "new 2")


async def test_an_event_says_who_wrote_what_and_how_to_read_on(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker():
        harness.dovecot.deliver(
            harness.address, mail("Your order", List_Id="<news.amazon.example>", Cc="b@example.org")
        )
        await harness.has("Your order")
    data = json.loads(str(await harness.store.db.events.one("data", source="mail")))
    shown = {name: data[name] for name in ("account", "from", "from_address", "to", "cc", "text", "list", "bulk")}
    assert shown == {
        "account": "primary",
        "from": "Amazon <orders@amazon.example>",
        "from_address": "orders@amazon.example",
        "to": "Ann <ann@example.org>",
        "cc": "b@example.org",
        "text": "It is on its way.",
        "list": "<news.amazon.example>",
        "bulk": True,
    }
    assert data["id"].startswith("mail/email/primary/INBOX/")
    assert (data["has_attachments"], data["date"]) == (False, "2026-11-23T08:00:00+01:00")


async def test_mail_that_came_during_an_outage_is_told_once_in_order(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker("w1"):
        await harness.watched()
    harness.deliver(*(f"mail {number:02}" for number in range(50)))
    async with harness.worker("w2"):
        await harness.has(*(f"mail {number:02}" for number in range(50)))
    async with harness.worker("w3"):
        harness.deliver("the last")
        await eventually(lambda: harness.store.admin.fetchval("select 51 = count(*) from events where source = 'mail'"))


async def test_without_idle_a_mailbox_is_polled(harness: MailHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abilities.mail.idle.IDLE", "NO-SUCH-CAPABILITY")
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker():
        await harness.watched()
        harness.deliver("polled")
        await harness.has("polled")


async def test_two_workers_watch_a_mailbox_once(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker("w1") as first, harness.worker("w2") as second:
        await harness.watched()
        for number in range(5):
            harness.deliver(f"mail {number}")
        await harness.has(*(f"mail {number}" for number in range(5)))
        first.look()
        second.look()
        await harness.watched()
        assert len(first.running) + len(second.running) == 1


async def test_a_watch_that_another_worker_has_taken_stores_nothing(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    slow, quick = MailWatches(harness.store.database, "slow"), MailWatches(harness.store.database, "quick")
    [watch] = await slow.claim(5)
    assert await quick.claim(5) == []
    await harness.store.admin.execute("update mail_watches set lease_until = clock_timestamp() - interval '1 second'")
    assert await quick.claim(5) == [watch]
    event: JsonObject = {"id": "e1", "data": {"message_id": ""}, "occurred_at": "2026-11-23T08:00:00+01:00"}
    with pytest.raises(LeaseLost):
        await slow.take(watch, "m", 1, 5, [event], whole=True)
    assert (await quick.take(watch, "m", 1, 5, [event], whole=True)).count == 1
    assert (await quick.take(watch, "m", 1, 5, [event], whole=True)).count == 0
    assert await slow.keep() == []


async def test_nothing_is_watched_until_a_task_waits_for_mail(harness: MailHarness) -> None:
    count = "select count(*) from mail_watches"
    await harness.connect()
    assert await harness.store.one(count) == 0
    task = await harness.wait_for_mail()
    assert await harness.store.one(count) == 1
    async with harness.worker() as worker:
        await harness.watched()
        await harness.engine.pause_task(harness.tenant, task.id)
        worker.look()
        await eventually(lambda: not worker.running)
        harness.deliver("while paused")
        age(harness.dovecot, harness.address)
        await harness.engine.resume_task(harness.tenant, task.id)
        worker.look()
        await harness.watched()
        harness.deliver("after")
        await harness.has("after")


async def test_a_disconnected_account_is_not_watched(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker() as worker:
        await harness.watched()
        await harness.credentials.delete(harness.tenant, "email")
        worker.look()
        await eventually(lambda: not worker.running)
    assert await harness.store.db.mail_watches.count() == 0


async def test_a_wrong_password_ends_the_watch_until_another_is_stored(harness: MailHarness) -> None:
    await harness.connect(harness.dovecot.account(harness.address, secret="wrong"))
    await harness.wait_for_mail()
    async with harness.worker() as worker:
        await harness.problem("login")
        told = "select count(*) from credentials where revoked_at is not null and attend_at <= clock_timestamp()"
        assert await harness.store.one(told) == 1, "whoever tells people of it is to do so at once"
        assert await harness.store.one(ENDED) == 1
        harness.deliver("meanwhile")
        await harness.connect()
        worker.look()
        await harness.has("meanwhile")
    assert await harness.store.one("select count(*) from credentials where attend_at is not null") == 0


async def test_an_account_without_a_mailbox_is_left_alone(harness: MailHarness) -> None:
    await harness.credentials.save(harness.tenant, "notion", {"token": "t"})
    await harness.wait_for_mail()
    async with harness.worker():
        await harness.problem("no_mailbox")
    assert await harness.store.one(ENDED) == 1
    assert await harness.store.one("select count(*) from credentials where revoked_at is not null") == 0


async def test_numbers_given_anew_miss_nothing_and_repeat_nothing(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker():
        harness.deliver("before 1", "before 2")
        await harness.has("before 1", "before 2")
    harness.deliver("meanwhile")
    for path in (harness.dovecot.folder / "mail" / harness.address).glob("dovecot*"):
        path.unlink()
    await harness.store.admin.execute("update mail_watches set uid_validity = uid_validity - 7, last_uid = 4000000")
    async with harness.worker():
        await harness.has("before 1", "before 2", "meanwhile")
        harness.deliver("after")
        await harness.has("before 1", "before 2", "meanwhile", "after")


async def test_mail_that_is_moved_away_and_back_is_told_once(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    message = mail("back again")
    async with harness.worker():
        harness.dovecot.deliver(harness.address, message)
        await harness.has("back again")
        harness.dovecot.deliver(harness.address, message)
        harness.deliver("another")
        await harness.has("back again", "another")


async def test_the_same_message_id_in_other_mails_hides_none(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker():
        for number in (1, 2):
            harness.dovecot.deliver(harness.address, mail(f"scan {number}", Message_ID="<0@printer>"))
        await harness.has("scan 1", "scan 2")


async def test_another_mailbox_under_the_same_name_begins_anew(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    async with harness.worker() as worker:
        await harness.watched()
        harness.address = harness.dovecot.new("bob")
        harness.deliver("of another's past")
        age(harness.dovecot, harness.address)
        await harness.connect()
        worker.look()
        await eventually(lambda: all(watch.revision == 1 for watch in worker.running) and worker.running)
        await harness.watched()
        harness.deliver("new")
        await harness.has("new")


async def test_what_we_mailed_ourselves_is_no_news(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    await harness.store.admin.execute(
        "insert into outbound_parts (tenant_id, outbound_id, part, ref, text, provider_id)"
        " select tenant_id, id, 7, 'ref-of-ours', 'x', '<ov-answer@valet.example>' from outbound limit 1"
    )
    async with harness.worker():
        for ours in ("<ref-of-ours@valet.example>", "<ov-answer@valet.example>"):
            harness.dovecot.deliver(harness.address, mail("ours", Message_ID=ours))
        harness.deliver("theirs")
        await harness.has("theirs")


async def test_an_event_starts_the_run_of_a_task_that_fits(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail(**{"from": {"contains": "amazon"}, "subject": {"contains": "order"}})
    async with harness.worker():
        harness.deliver("Your Order 12", "Your invoice")
        harness.dovecot.deliver(harness.address, mail("My order", "Bob <bob@example.org>"))
        await eventually(lambda: harness.store.admin.fetchval("select 3 = count(*) from events where source = 'mail'"))
    rows = await harness.store.admin.fetch("select * from events where source = 'mail'")
    lanes = []
    for row in rows:
        event = Event(
            row["source"], row["type"], json.loads(row["data"]), row["id"], harness.tenant, row["occurred_at"]
        )
        lanes += await harness.engine.fire_for_event(harness.tenant, event)
    assert len(lanes) == 1
    turn = await harness.store.db.task_runs.one("turn_id")
    lines = [line for line in await trace(harness.store.database, str(turn)) if line["what"] in ("event", "run")]
    assert [(line["what"], line.get("source"), line.get("type")) for line in lines] == [
        ("event", "mail", "mail.received"),
        ("run", None, None),
    ]


async def test_a_failing_mailbox_is_tried_again_after_growing_pauses(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    watches = MailWatches(harness.store.database, "w1", harness.store.wakeups)
    [watch] = await watches.claim(5)
    await watches.fail(watch, timedelta(hours=1), "connection")
    assert harness.store.wakeups.later == [("mail", "", timedelta(hours=1))]
    assert await watches.claim(5) == []
    await harness.store.admin.execute("update mail_watches set next_attempt_at = clock_timestamp()")
    assert await watches.claim(5) == [watch]
    position = await watches.position(watch)
    assert position is not None
    assert position.failures == 1


async def test_doctor_counts_mailboxes_and_says_what_is_wrong(harness: MailHarness) -> None:
    assert await check_mailboxes(harness.store.database) == []
    await harness.connect()
    await harness.wait_for_mail()
    [_, waiting] = await check_mailboxes(harness.store.database)
    assert (waiting.what, waiting.ok) == ("mailboxes that wait", False)
    async with harness.worker():
        await harness.watched()
        [check] = await check_mailboxes(harness.store.database)
        assert (check.ok, check.detail) == (True, "1 watched for new mail")
        await harness.connect(harness.dovecot.account(harness.address, secret="wrong"))
        await harness.problem("login")
    [_, failing] = await check_mailboxes(harness.store.database)
    assert (failing.what, failing.ok) == ("mailboxes that fail", False)
    assert failing.detail.startswith("1: the server refuses the login")
