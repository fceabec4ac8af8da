"""News and limits of one person whose work fails hold up nobody else's, and come again later and later."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from abilities.household import telling
from abilities.household.telling import follow_deeds
from core.notifications.types import Notification, NotificationStatus, Notified
from tests.abilities.household.living import TIER, Living, open_living, services_of
from tests.core.harness import Store

PEOPLE = 60
"""More than a round takes."""


@dataclass
class Failing:
    """A notifier that fails for some people. `tried`: for whom, in order."""

    bad: set[str]
    tried: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Fail, or note it."""
        self.tried.append(tenant_id)
        if tenant_id in self.bad:
            raise RuntimeError("nobody foresaw this")
        self.told.append(tenant_id)
        return Notified("n", NotificationStatus.QUEUED)


async def tell_all(store: Store) -> list[str]:
    """Let there be news for many; return the people, those first whose news are the oldest."""
    for number in range(PEOPLE):
        await store.say("hello", sender=f"+1555{number:07}")
    people = [str(one) for one in await store.column("select tenant_id from tenants order by tenant_id")]
    for one in people:
        await store.admin.execute(
            "insert into household_news (tenant_id, id, kind, about) values ($1, 'k', 'ended', '{}')", one
        )
    return people


async def test_news_that_cannot_be_told_hold_up_nobody_elses(store: Store) -> None:
    people = await tell_all(store)
    *bad, good = people
    notifier = Failing({*bad})
    await follow_deeds(store.database, notifier)
    await follow_deeds(store.database, notifier)
    assert notifier.told == [good]
    # Each was tried once: it has a pause of its own.
    assert sorted(notifier.tried) == people
    notifier.bad.clear()
    await store.end_pauses()
    for _ in range(2):
        await follow_deeds(store.database, notifier)
    assert sorted(notifier.told) == people
    assert await store.one("select count(*) from household_news") == 0


async def test_news_that_cannot_be_told_come_later_each_time(store: Store) -> None:
    (one, *_) = await tell_all(store)
    notifier, pauses = Failing({one}), list[float]()
    left = "select extract(epoch from next_attempt_at - clock_timestamp())::float8 from household_news"
    for _ in range(9):
        await store.end_pauses()
        for _ in range(2):
            await follow_deeds(store.database, notifier)
        pauses.append(float(str(await store.one(left + " where tenant_id = $1", one))))
    # The last two are the longest there is, less the time that it took to ask.
    assert pauses[:-1] == sorted(pauses[:-1])
    assert 5 < pauses[0] <= 10
    assert 890 < pauses[-1] <= 900


async def test_what_fails_is_due_after_its_pause_and_not_before(store: Store) -> None:
    due = "select wait from what_is_due(now()) where work = 'household news'"
    (one, *_) = await tell_all(store)
    assert float(str(await store.one(due))) <= 0
    for _ in range(2):
        await follow_deeds(store.database, Failing({one}))
    assert 0 < float(str(await store.one(due))) <= 10


@pytest.fixture
async def home(database_url: str) -> Any:
    async with open_living("sms", database_url) as system:
        system.options = {"services": services_of(system.delivery.store.database, system.clock, TIER)}
        await system.ask("household create Rose Cottage")
        for person in ("grace", "lena"):
            await system.joins(person, role="child")
        yield system


async def test_limits_that_cannot_be_lifted_hold_up_nobody_elses(home: Living, monkeypatch: pytest.MonkeyPatch) -> None:
    real, bad = telling._lift, min(home.tenants["grace"], home.tenants["lena"])
    tried: list[str] = []

    async def lift(database: Any, due: Any) -> None:
        tried.append(due["tenant_id"])
        if due["tenant_id"] == bad:
            raise RuntimeError("nobody foresaw this")
        await real(database, due)

    monkeypatch.setattr(telling, "_lift", lift)
    await home.ask("household end agree")
    await home.work()
    tiers = "select tenant_id from tenants where tier = 'child'"
    assert await home.delivery.store.column(tiers) == [bad]
    assert tried.count(bad) == 1
    monkeypatch.undo()
    await home.delivery.store.end_pauses()
    await home.work()
    assert await home.delivery.store.column(tiers) == []
