"""New mail while what it needs is away: the mail server, the wire to it, Postgres, Redis."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from abilities.mail.watcher import MailWatcher
from core.db.database import Database
from tests.abilities.mail.mail_harness import MailHarness, open_mail
from tests.core.harness import Store
from tests.eventually import eventually
from tests.faults.proxy import Proxy, Trouble, proxied
from tests.servers.dovecot import Dovecot, running_dovecot

pytestmark = pytest.mark.slow


@pytest.fixture
async def harness(
    store: Store, dovecot: Dovecot, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MailHarness]:
    """Yield a person with a mailbox, and a worker's patience of seconds instead of minutes."""
    monkeypatch.setattr("providers.email.imap_wire.SECONDS", 2.0)
    monkeypatch.setattr("abilities.mail.watcher.FIRST_PAUSE", 0.2)
    async with open_mail(store, dovecot, redis_url) as harness:
        yield harness


async def test_a_wire_that_breaks_or_goes_silent_is_noticed_and_nothing_missed(harness: MailHarness) -> None:
    async with proxied(harness.dovecot.imap) as proxy:
        await behind(harness, proxy)
        await harness.wait_for_mail()
        async with harness.worker() as worker:
            await harness.watched()
            proxy.be(Trouble.BLACK_HOLE)
            harness.deliver("in silence")
            await harness.problem("unreachable")
            proxy.be(Trouble.CUT)
            harness.deliver("in the cut")
            await eventually(lambda: harness.store.admin.fetchval("select sum(failures) > 2 from mail_watches"))
            proxy.be(Trouble.NONE)
            await eventually(lambda: looked(worker, harness, "in silence", "in the cut"))


async def test_a_mail_server_that_restarts_is_found_again(
    store: Store, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("providers.email.imap_wire.SECONDS", 2.0)
    monkeypatch.setattr("abilities.mail.watcher.FIRST_PAUSE", 0.2)
    with running_dovecot() as server:
        async with open_mail(store, server, redis_url) as harness:
            await harness.connect()
            await harness.wait_for_mail()
            async with harness.worker() as worker:
                await harness.watched()
                await asyncio.to_thread(server.stop)
                harness.deliver("while it was down")
                await harness.problem("unreachable")
                await asyncio.to_thread(server.start)
                await eventually(lambda: looked(worker, harness, "while it was down"))


async def test_while_postgres_is_away_nothing_is_missed(harness: MailHarness) -> None:
    parts = urlsplit(harness.store.url)
    async with proxied(parts.port or 5432) as proxy:
        url = parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{proxy.port}").geturl()
        database = Database(url, patience=0.5)
        away = replace(harness, store=replace(harness.store, database=database))
        try:
            await harness.connect()
            await harness.wait_for_mail()
            async with away.worker():
                await harness.watched()
                proxy.be(Trouble.CUT)
                harness.deliver("while it was away")
                before = proxy.connections
                await eventually(lambda: proxy.connections > before)
                proxy.be(Trouble.NONE)
                await harness.has("while it was away")
        finally:
            await database.close()


async def test_without_redis_new_mail_is_stored_all_the_same(harness: MailHarness) -> None:
    await harness.connect()
    await harness.wait_for_mail()
    harness.redis_url = "redis://127.0.0.1:9"
    async with harness.worker():
        await harness.watched()
        harness.deliver("without Redis")
        await harness.has("without Redis")


async def behind(harness: MailHarness, proxy: Proxy) -> None:
    """Connect the mailbox through a wire that can be troubled."""
    account = harness.dovecot.account(harness.address)
    harness.http = harness.dovecot.http(f"127.0.0.1:{proxy.port}")
    await harness.connect(replace(account, servers={"imap": f"imap://127.0.0.1:{proxy.port}"}))


async def looked(worker: MailWatcher, harness: MailHarness, *subjects: str) -> bool:
    """Try again at once, as after the pause; return whether exactly these mails have become events."""
    again = "update mail_watches set next_attempt_at = clock_timestamp() where next_attempt_at > clock_timestamp()"
    await harness.store.admin.execute(again)
    worker.look()
    return sorted(map(str, await harness.subjects())) == sorted(subjects)
