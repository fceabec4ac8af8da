"""Many whose news keeps failing do not stand before those whose news could be told."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from notify import setbacks
from notify.store import NotificationStore
from notify.types import Recipient
from tests.clocks import StandingClock
from tests.notify.harness import People, people

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
async def harness(database_url: str) -> AsyncIterator[People]:
    async with people(database_url, StandingClock(NOW)) as harness:
        # Nobody knows how to read what these wish; more of them than are looked at in one go.
        await harness.store.admin.execute(
            "insert into tenants (tenant_id) select 'bad' || lpad(n::text, 3, '0') from generate_series(1, 120) n"
        )
        await harness.bring_in("good", "sms", wrote="sms")
        yield harness


async def keep(harness: People, state: str) -> None:
    """Keep a piece of news for everybody, the good one's last."""
    await harness.store.admin.execute(
        "insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, not_before)"
        " select tenant_id, 'ntf_' || tenant_id, 'general', 'normal', 'news', 'k', $1, $2,"
        "  $2::timestamptz - case when tenant_id = 'good' then interval '1 minute' else interval '1 hour' end"
        " from tenants order by tenant_id",
        state,
        NOW,
    )


def break_bad_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whatever is done for the bad ones raise what nobody foresaw."""
    recipient = NotificationStore.recipient

    async def broken(self: NotificationStore, tenant_id: str, conversation_id: str, now: datetime) -> Recipient:
        if tenant_id.startswith("bad"):
            raise RuntimeError("nobody foresaw this")
        return await recipient(self, tenant_id, conversation_id, now)

    monkeypatch.setattr(NotificationStore, "recipient", broken)


async def test_held_news_of_many_that_fail_does_not_starve_another_persons(
    harness: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(harness, "held")
    service = harness.service
    break_bad_ones(monkeypatch)
    monkeypatch.setattr(setbacks, "FIRST", 600.0)  # on a busy machine a look may take longer than the usual pause
    assert await service.release_held() + await service.release_held() == 1
    await harness.deliver()
    assert harness.said("sms") == ["news"]


async def test_many_peoples_failing_news_do_not_starve_another_persons(
    harness: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(harness, "failed")
    service = harness.service
    break_bad_ones(monkeypatch)
    monkeypatch.setattr(setbacks, "FIRST", 600.0)
    assert sum([await service.fall_back() for _ in range(3)]) == 1
    await harness.deliver()
    assert len(harness.said("sms")) == 1
