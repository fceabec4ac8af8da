"""An answer that its channel does not take is told elsewhere (promise 6), as the person wants to be told."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import Ambiguous, DeliveryError, RateLimited, Unavailable
from core.messaging.messages import OutboundKind, OutboundMessage
from core.notifications.types import Notification
from jobs.delivery.lost_answers import MAX_RESENT
from notify.service import delayed_answer_text
from operations.doctor.work import check_delays
from tests.clocks import StandingClock
from tests.notify.harness import People, people
from tests.notify.test_service import night

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SAID = delayed_answer_text("telegram")
DAY = RateLimited("busy", "429", timedelta(days=1))


@pytest.fixture
async def harness(database_url: str) -> AsyncIterator[People]:
    async with people(database_url, StandingClock(NOON)) as harness:
        await harness.bring_in("ann", "telegram", "sms", wrote="telegram")
        yield harness


async def answer(harness: People, text: str, kind: OutboundKind = OutboundKind.REPLY) -> None:
    """Owe ann an answer on Telegram, and send what is due."""
    await harness.store.enqueue_in(
        "ann", "ann-telegram-talk", [OutboundMessage(harness.store.make_id("out"), kind, text)]
    )
    await harness.deliver()


async def wait(harness: People, **span: float) -> None:
    """Let everything be so much older."""
    await harness.store.admin.execute("update deliveries set started_at = started_at - $1::interval", timedelta(**span))
    await harness.store.admin.execute(
        "update outbound set delay_told_at = delay_told_at - $1::interval", timedelta(**span)
    )


@pytest.mark.parametrize(
    "failure", [DAY, Unavailable("503"), Ambiguous("timeout")], ids=lambda failure: type(failure).__name__
)
async def test_promise_6_an_answer_that_waits_ten_minutes_is_told_elsewhere_once(
    harness: People, failure: DeliveryError
) -> None:
    harness.channels["telegram"].acts.append(failure)
    await answer(harness, "the answer")
    assert await harness.service.tell_delays() == 0
    await wait(harness, minutes=11)
    assert await harness.service.tell_delays() == 1
    assert await harness.service.tell_delays() == 0
    await harness.deliver()
    assert harness.said("sms") == [SAID]
    assert harness.said("telegram") == ["the answer"]


async def test_one_outage_is_told_once_however_many_answers_wait(harness: People) -> None:
    harness.channels["telegram"].acts.extend([DAY] * 3)
    for text in ("one", "two"):
        await answer(harness, text)
    await harness.store.db.outbound.change({"state": "failed"}, seq=1)
    await harness.deliver()
    await wait(harness, minutes=11)
    assert await harness.service.tell_delays() == 1
    await wait(harness, minutes=30)
    assert await harness.service.tell_delays() == 0
    await wait(harness, hours=6)
    assert await harness.service.tell_delays() == 0  # each answer once


async def test_quiet_hours_are_kept_and_nothing_stale_is_said_after_them(harness: People) -> None:
    await night(harness, "ann", "22:00", "07:00")
    clock = harness.clock
    assert isinstance(clock, StandingClock)
    clock.at = NOON.replace(hour=23)
    harness.channels["telegram"].acts.append(DAY)
    await answer(harness, "the answer")
    await wait(harness, minutes=11)
    assert await harness.service.tell_delays() == 0
    clock.move(hours=9)
    await harness.store.make_due()
    await harness.deliver()
    assert await harness.service.tell_delays() + await harness.service.release_held() == 0
    assert harness.said("sms") == []


async def test_who_has_one_place_is_told_there_when_it_works(harness: People) -> None:
    await harness.store.db.identities.delete(channel="sms")
    harness.channels["telegram"].acts.append(DAY)
    await answer(harness, "the answer")
    await wait(harness, minutes=11)
    assert await harness.service.tell_delays() == 0


async def test_news_goes_elsewhere_itself_and_is_not_announced(harness: People) -> None:
    harness.channels["telegram"].acts.append(DAY)
    await answer(harness, "news", OutboundKind.NOTIFICATION)
    await wait(harness, minutes=11)
    assert await harness.service.tell_delays() == 0


async def test_the_doctor_shows_what_has_been_delayed_and_why(harness: People) -> None:
    harness.channels["telegram"].acts.append(DAY)
    await answer(harness, "the answer")
    assert not [check for check in await check_delays(harness.store.database) if check.what == "telegram: delayed"]
    await wait(harness, minutes=11)
    [check] = [check for check in await check_delays(harness.store.database) if check.what == "telegram: delayed"]
    assert not check.ok
    assert "1 conversation(s)" in check.detail
    assert "RateLimited" in check.detail
    assert check.fix


async def test_promise_6_news_given_up_with_an_unknown_outcome_goes_elsewhere(harness: People) -> None:
    telegram = harness.channels["telegram"]
    telegram.can_find, telegram.resend_unknown = False, True
    telegram.acts.extend([Ambiguous("timeout")] * (1 + MAX_RESENT))
    await harness.service.notify("ann", Notification("Take your pills"))
    for _ in range(3 + MAX_RESENT):
        await harness.store.make_due()
        await harness.deliver()
    assert await harness.service.fall_back() == 1
    await harness.deliver()
    assert harness.said("telegram") == ["Take your pills"] * (1 + MAX_RESENT)
    assert harness.said("sms") == ["Take your pills"]
    assert await harness.store.db.notifications.column("state") == ["sent"]
