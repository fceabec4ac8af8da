"""News that failed and is sent again goes to one place only."""

from collections.abc import AsyncIterator

import pytest

from core.errors import Rejected
from core.messaging.unsettled import Settlement, UnsettledMessages
from core.notifications.types import Notification
from tests.clocks import StandingClock
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


async def resend(harness: People) -> Settlement:
    failed = str(await harness.store.one("select id from outbound where state = 'failed' order by created_at limit 1"))
    settlement, _ = await UnsettledMessages(harness.store.database, harness.store.make_id).resend("ann", failed)
    return settlement


async def test_news_that_is_sent_again_goes_nowhere_else(ann: People) -> None:
    assert await resend(ann) is Settlement.RESENT
    assert await ann.service.fall_back() == 0
    await ann.deliver()
    assert (ann.said("sms"), ann.said("telegram")) == (["Your parcel is here"] * 2, [])
    assert await ann.store.column("select state from notifications") == ["sent"]


async def test_news_that_fails_again_goes_to_the_next_place(ann: People) -> None:
    ann.channels["sms"].acts.append(Rejected("no", "400"))
    assert await resend(ann) is Settlement.RESENT
    await ann.deliver()
    assert await ann.service.fall_back() == 1
    await ann.deliver()
    assert ann.said("telegram") == ["Your parcel is here"]


async def test_news_that_went_elsewhere_is_settled_and_not_repeated(ann: People) -> None:
    assert await ann.service.fall_back() == 1
    listed = "select count(*) from find_unsettled('', null, '', 10)"
    assert await ann.store.one(listed) == 0
    assert await resend(ann) is Settlement.SETTLED
    await ann.deliver()
    assert (ann.said("sms"), ann.said("telegram")) == (["Your parcel is here"], ["Your parcel is here"])
