"""A Postgres that answers and cannot serve: full, read-only, without our role, without a free connection."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from channels import polling
from channels.http.app import build_app, serve
from channels.sms.receive import SmsChannel
from channels.telegram import poll
from core.db.database import Database
from core.db.outages import StoreTrouble
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.channels import Received
from core.messaging.inbound import Inbound
from core.people.access_policy import Access, Policy
from core.queue.wakeups import NoWakeups
from onevalet.migrating import migrate
from tests.channels.memory_sink import MemorySink
from tests.channels.sms.builders import NUMBER, PUBLIC_URL, SID, TOKEN, Gateway, webhook
from tests.channels.telegram.builders import make_channel as make_telegram
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.services import private_postgres
from tests.small_disk import SmallDisk, admin_on, needs_root, small_disk
from tests.workbench.simulator.telegram_harness import Harness, open_harness

pytestmark = pytest.mark.slow

OPEN = Access(Policy.OPEN)
LONG = "lunch on Friday? " * 90
_END_OTHERS = (
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where datname = current_database() and pid <> pg_backend_pid()"
)

type Act = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Front:
    """A gateway on a real inbox, as `web` has it, and what it logged."""

    gateway: Gateway
    database: Database
    logs: list[EventDict]
    sent: int = 0

    async def text(self) -> int:
        """Send one text as Twilio does; return the status."""
        self.sent += 1
        sid = f"SM{self.sent:032x}"
        response = await self.gateway.post(webhook(MessageSid=sid, SmsMessageSid=sid, SmsSid=sid, Body=LONG))
        return response.status

    async def texts(self, count: int) -> set[int]:
        """Send some side by side; return their statuses."""
        return set(await asyncio.gather(*(self.text() for _ in range(count))))

    async def ready(self) -> int:
        """Return the status of `/readyz`."""
        async with self.gateway.session.get(f"http://127.0.0.1:{self.gateway.port}/readyz") as answer:
            return answer.status

    async def until_ready(self, status: int = 200) -> None:
        """Wait until `/readyz` has this status: what it found is told again for a second."""

        async def is_so() -> bool:
            return await self.ready() == status

        await eventually(is_so, f"that /readyz answers {status}")

    def hurry(self) -> None:
        """From now on, call it an outage soon: nothing is expected to work."""
        self.database._patience = 0.4

    def take_time(self) -> None:
        """From now on, wait for the server however busy the machine is: all is expected to work."""
        self.database._patience = PATIENCE

    def count(self, event: str) -> int:
        """Return how often something was logged."""
        return sum(entry["event"] == event for entry in self.logs)


@asynccontextmanager
async def front(url: str) -> AsyncIterator[Front]:
    database = Database(url, patience=PATIENCE, size=4)
    inbox = Inbox(database, NoWakeups(), make_id, OPEN)
    channel = SmsChannel(
        account_sid=SID,
        auth_token=TOKEN,
        sender=NUMBER,
        public_url=PUBLIC_URL,
        api_url="http://127.0.0.1:9",
        sink=inbox,
    )
    app = build_app([channel], ready=database.ready)
    with capture_logs() as logs:
        async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
            yield Front(Gateway(port, MemorySink(), session), database, logs)
    await channel.stop()
    await database.close()


async def _meets_trouble(served: Front, begin: Act, end: Act) -> None:
    assert await served.texts(3) == {200}
    await served.until_ready()
    served.logs.clear()
    await begin()
    served.hurry()
    statuses = set[int]()
    for _ in range(40):  # what has room in a page that is there is still kept
        statuses |= await served.texts(3)
        if statuses - {200}:
            break
    assert await served.texts(12) | statuses <= {200, 503}
    assert 503 in statuses
    await served.until_ready(503)
    assert served.count("request_failed") == 0
    causes = [entry["cause"] for entry in served.logs if entry["event"] == "store_trouble"]
    assert causes
    assert len(causes) == len(set(causes))
    assert served.count("database_not_ready") == 1
    await end()
    served.take_time()
    await served.until_ready()
    assert await served.texts(3) == {200}
    assert served.count("database_ready") == 1


@needs_root
async def test_promise_1_a_full_disk_is_503_red_and_back_by_itself() -> None:
    async with small_disk() as disk:
        await migrate(disk.url)
        async with front(disk.url) as served, admin_on(disk.url) as admin:

            async def begin() -> None:
                disk.fill()

            async def end() -> None:
                disk.make_room()

            await _meets_trouble(served, begin, end)
            kept = await admin.fetchval("select count(*) from inbound")
            # What was answered 503 is sent again by the provider, and then kept once.
            served.sent = 0
            while served.sent < 20:
                assert await served.text() == 200
            assert await admin.fetchval("select count(distinct provider_id) from inbound") >= max(kept, 20)
            assert await admin.fetchval("select count(*) - count(distinct provider_id) from inbound") == 0


async def test_promise_1_a_read_only_server_is_503_red_and_back_by_itself(database_url: str) -> None:
    async with front(database_url) as served, admin_on(database_url) as admin:
        name = await admin.fetchval("select current_database()")

        async def turn(word: str) -> None:
            await admin.execute("set session default_transaction_read_only = off")
            await admin.execute(f"alter database {name} set default_transaction_read_only = {word}")
            await admin.execute(_END_OTHERS)

        try:
            await _meets_trouble(served, lambda: turn("on"), lambda: turn("off"))
        finally:
            await admin.execute(f"alter database {name} reset default_transaction_read_only")


async def test_promise_1_a_server_without_our_role_is_503_red_and_back_by_itself() -> None:
    async with private_postgres() as server:
        await migrate(server.url)
        async with front(server.url) as served, admin_on(server.url) as admin:

            async def rename(old: str, new: str) -> None:
                await admin.execute(f"alter role {old} rename to {new}")
                await admin.execute(_END_OTHERS)

            await _meets_trouble(
                served, lambda: rename("onevalet_app", "another"), lambda: rename("another", "onevalet_app")
            )


async def test_promise_1_a_connection_limit_is_503_red_and_back_by_itself(database_url: str) -> None:
    async with admin_on(database_url) as admin:
        name = f"limited_{await admin.fetchval('select current_database()')}"  # a superuser has no limit
        await admin.execute(f"create role {name} login password 'limited' in role onevalet_app")
        url = urlsplit(database_url)
        url = url._replace(netloc=f"{name}:limited@{url.hostname}:{url.port}")

        async def limit(most: int) -> None:
            await admin.execute(f"alter role {name} connection limit {most}")
            await admin.execute(_END_OTHERS)

        try:
            async with front(url.geturl()) as served:
                await _meets_trouble(served, lambda: limit(0), lambda: limit(-1))
        finally:
            await admin.execute(f"drop role {name}")


@needs_root
async def test_promise_1_no_polled_update_is_left_out_while_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll, "POLL_SECONDS", 1)
    monkeypatch.setattr(polling, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(poll, "MAX_PAUSE", 0.2)
    async with small_disk() as disk, open_harness() as harness:
        await migrate(disk.url)
        database = Database(disk.url, patience=0.3, size=4)
        inbox = CountedInbox(database, NoWakeups(), make_id, OPEN)
        channel = make_telegram(
            inbox,  # type: ignore[arg-type]
            secret="",
            api_url=f"{harness.url}/telegram",
            database=database,
        )
        with capture_logs() as logs:
            await channel.start()
            try:
                await _say_on_a_full_disk(harness, disk, inbox)
            finally:
                await channel.stop()
                await database.close()
        assert [entry for entry in logs if entry["event"] in ("update_left_out", "polling_failed")] == []
        assert any(entry["event"] == "store_trouble" for entry in logs)


class CountedInbox(Inbox):
    """An inbox that counts how often in a row it could take nothing in."""

    failures = 0

    async def accept(self, inbound: Inbound) -> Received:
        """Count it, and take it in."""
        self.failures += 1
        received = await super().accept(inbound)
        self.failures = 0
        return received


async def _say_on_a_full_disk(harness: Harness, disk: SmallDisk, inbox: CountedInbox) -> None:
    pending = harness.telegram._world.updates.pending
    async with admin_on(disk.url) as admin:

        async def say(number: int) -> None:
            await harness.act("say", text=f"{number} {LONG}")

        await say(0)
        await eventually(lambda: pending() == 0)
        disk.fill()
        for number in range(1, 40):
            await say(number)
        await eventually(lambda: inbox.failures > 2 * polling.TRIES, "more tries than of an update that breaks us")
        assert pending() > 0
        disk.make_room()
        await eventually(lambda: pending() == 0)
        kept = await admin.fetch("select text from inbound order by seq")
        assert [int(row["text"].split()[0]) for row in kept] == list(range(40))


async def test_trouble_is_told_once_a_cause_and_its_end_once_with_the_count() -> None:
    now = 0.0
    trouble = StoreTrouble(lambda: now)
    with capture_logs() as logs:
        for _ in range(50):
            trouble.failed(TimeoutError())
            trouble.failed(OSError())
            trouble.worked()  # as reads go on while writes fail
            now += 0.1
        now += 10
        trouble.worked()
        trouble.worked()
    assert [(entry["event"], entry.get("cause"), entry.get("failures")) for entry in logs] == [
        ("store_trouble", "TimeoutError", None),
        ("store_trouble", "OSError", None),
        ("store_well", None, 100),
    ]
