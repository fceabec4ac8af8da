"""News that failed and is sent again goes to one place only."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.errors import Rejected
from core.messaging.messages import DeliveryStatus, StatusUpdate
from core.notifications.types import Notification, NotificationPolicy
from operations.console.unsettled import Settlement, UnsettledMessages
from tests.clocks import StandingClock
from tests.core.harness import ACCOUNT
from tests.notify.harness import People, people


@pytest.fixture
async def ann(database_url: str) -> AsyncIterator[People]:
    """Yield Ann, whose news by SMS has just failed."""
    async with people(database_url, StandingClock()) as harness:
        await harness.bring_in("ann", "sms", "telegram", wrote="sms")
        harness.channels["sms"].acts.append(Rejected("no", "400"))
        await harness.service.notify("ann", Notification("Your parcel is here"))
        await harness.deliver()
        yield harness


@pytest.fixture
async def lost(database_url: str) -> AsyncIterator[People]:
    """Yield Ann, whose news by SMS was taken by its provider and then did not arrive."""
    async with people(database_url, StandingClock()) as harness:
        await harness.bring_in("ann", "sms", "telegram", wrote="sms")
        await harness.service.notify("ann", Notification("Your parcel is here"))
        await harness.deliver()
        await lose(harness)
        yield harness


async def lose(harness: People) -> None:
    """Have the provider report that the last SMS did not arrive."""
    ref = list(harness.channels["sms"].arrived)[-1]
    await harness.store.inbox.accept(StatusUpdate("sms", ACCOUNT, "SM0", ref, DeliveryStatus.UNDELIVERED, "30003"))


async def listed(harness: People) -> list[object]:
    return await harness.store.column("select state from find_unsettled('', '', null, '', 10)")


async def resend(harness: People) -> Settlement:
    failed = str(await harness.store.one("select id from outbound order by created_at limit 1"))
    settlement, _ = await UnsettledMessages(harness.store.database, harness.store.make_id).resend("ann", failed)
    return settlement


async def test_news_that_is_sent_again_goes_nowhere_else(ann: People) -> None:
    assert await resend(ann) is Settlement.RESENT
    assert await ann.service.fall_back() == 0
    await ann.deliver()
    assert (ann.said("sms"), ann.said("telegram")) == (["Your parcel is here"] * 2, [])
    assert await ann.store.db.notifications.column("state") == ["sent"]


async def test_news_that_fails_again_goes_to_the_next_place(ann: People) -> None:
    ann.channels["sms"].acts.append(Rejected("no", "400"))
    assert await resend(ann) is Settlement.RESENT
    await ann.deliver()
    assert await ann.service.fall_back() == 1
    await ann.deliver()
    assert ann.said("telegram") == ["Your parcel is here"]


async def test_news_that_went_elsewhere_is_settled_and_not_repeated(ann: People) -> None:
    assert await ann.service.fall_back() == 1
    assert await listed(ann) == []
    assert await resend(ann) is Settlement.SETTLED
    await ann.deliver()
    assert (ann.said("sms"), ann.said("telegram")) == (["Your parcel is here"], ["Your parcel is here"])


async def test_news_that_was_taken_and_lost_is_sent_again_and_goes_nowhere_else(lost: People) -> None:
    assert await listed(lost) == ["undelivered"]
    assert await resend(lost) is Settlement.RESENT
    assert await lost.service.fall_back() == 0
    await lost.deliver()
    assert (lost.said("sms"), lost.said("telegram")) == (["Your parcel is here"] * 2, [])
    assert await listed(lost) == []


async def test_news_that_was_taken_and_lost_is_settled_by_going_elsewhere(lost: People) -> None:
    assert await lost.service.fall_back() == 1
    assert await listed(lost) == []
    assert await resend(lost) is Settlement.SETTLED


async def test_news_that_nobody_read_is_settled_by_going_elsewhere(database_url: str) -> None:
    clock = StandingClock()
    async with people(database_url, clock, manners=NotificationPolicy(fall_back_after=timedelta(minutes=10))) as ann:
        await ann.bring_in("ann", "sms", "telegram", wrote="sms")
        await ann.service.notify("ann", Notification("Your parcel is here"))
        await ann.deliver()
        clock.move(minutes=11)
        assert await ann.service.fall_back() == 1
        await lose(ann)
        assert await listed(ann) == []
