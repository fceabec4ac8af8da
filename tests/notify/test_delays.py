"""An answer that its channel does not take is told elsewhere (promise 6), as the person wants to be told."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import Ambiguous, DeliveryError, RateLimited, Unavailable
from core.messaging.messages import OutboundKind, OutboundMessage
from core.notifications.types import Notification
from jobs.delivery import MOST_RESENT
from notify.service import DELAYED_ANSWER, PLACES
from onevalet.cli.doctor import _database
from tests.notify.harness import Moment, People, people
from tests.notify.test_service import night

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SAID = DELAYED_ANSWER.format(PLACES["telegram"])
DAY = RateLimited("busy", "429", timedelta(days=1))


@pytest.fixture
async def house(database_url: str) -> AsyncIterator[People]:
    async with people(database_url, Moment(NOON)) as house:
        await house.bring_in("ann", "telegram", "sms", wrote="telegram")
        yield house


async def answer(house: People, text: str, kind: OutboundKind = OutboundKind.REPLY) -> None:
    """Owe ann an answer on Telegram, and send what is due."""
    await house.store.outbox.owe("ann", "ann-telegram-talk", [OutboundMessage(house.store.make_id("out"), kind, text)])
    await house.deliver()


async def wait(house: People, **span: float) -> None:
    """Let everything be so much older."""
    await house.store.eye.execute("update deliveries set started_at = started_at - $1::interval", timedelta(**span))
    await house.store.eye.execute("update outbound set delay_told_at = delay_told_at - $1::interval", timedelta(**span))


@pytest.mark.parametrize("failure", [DAY, Unavailable("503"), Ambiguous("timeout")], ids=lambda one: type(one).__name__)
async def test_promise_6_an_answer_that_waits_ten_minutes_is_told_elsewhere_once(
    house: People, failure: DeliveryError
) -> None:
    house.channels["telegram"].acts.append(failure)
    await answer(house, "the answer")
    assert await house.service.tell_delays() == 0
    await wait(house, minutes=11)
    assert await house.service.tell_delays() == 1
    assert await house.service.tell_delays() == 0
    await house.deliver()
    assert house.said("sms") == [SAID]
    assert house.said("telegram") == ["the answer"]


async def test_one_outage_is_told_once_however_many_answers_wait(house: People) -> None:
    house.channels["telegram"].acts.extend([DAY] * 3)
    for text in ("one", "two"):
        await answer(house, text)
    await house.store.eye.execute("update outbound set state = 'failed' where seq = 1")
    await house.deliver()
    await wait(house, minutes=11)
    assert await house.service.tell_delays() == 1
    await wait(house, minutes=30)
    assert await house.service.tell_delays() == 0
    await wait(house, hours=6)
    assert await house.service.tell_delays() == 0  # each answer once


async def test_quiet_hours_are_kept_and_nothing_stale_is_said_after_them(house: People) -> None:
    await night(house, "ann", "22:00", "07:00")
    clock = house.clock
    assert isinstance(clock, Moment)
    clock.at = NOON.replace(hour=23)
    house.channels["telegram"].acts.append(DAY)
    await answer(house, "the answer")
    await wait(house, minutes=11)
    assert await house.service.tell_delays() == 0
    clock.forward(hours=9)
    await house.store.make_due()
    await house.deliver()
    assert await house.service.tell_delays() + await house.service.release_held() == 0
    assert house.said("sms") == []


async def test_who_has_one_place_is_told_there_when_it_works(house: People) -> None:
    await house.store.eye.execute("delete from identities where channel = 'sms'")
    house.channels["telegram"].acts.append(DAY)
    await answer(house, "the answer")
    await wait(house, minutes=11)
    assert await house.service.tell_delays() == 0


async def test_news_goes_elsewhere_itself_and_is_not_announced(house: People) -> None:
    house.channels["telegram"].acts.append(DAY)
    await answer(house, "news", OutboundKind.NOTIFICATION)
    await wait(house, minutes=11)
    assert await house.service.tell_delays() == 0


async def test_the_doctor_shows_what_has_been_delayed_and_why(house: People) -> None:
    house.channels["telegram"].acts.append(DAY)
    await answer(house, "the answer")
    assert not [one for one in await _database(house.store.database) if one.what == "telegram: delayed"]
    await wait(house, minutes=11)
    [check] = [one for one in await _database(house.store.database) if one.what == "telegram: delayed"]
    assert not check.ok
    assert "1 conversation(s)" in check.detail
    assert "RateLimited" in check.detail
    assert check.fix


async def test_promise_6_news_given_up_with_an_unknown_outcome_goes_elsewhere(house: People) -> None:
    telegram = house.channels["telegram"]
    telegram.can_find, telegram.resend_unknown = False, True
    telegram.acts.extend([Ambiguous("timeout")] * (1 + MOST_RESENT))
    await house.service.notify("ann", Notification("Take your pills"))
    for _ in range(3 + MOST_RESENT):
        await house.store.make_due()
        await house.deliver()
    assert await house.service.fall_back() == 1
    await house.deliver()
    assert house.said("telegram") == ["Take your pills"] * (1 + MOST_RESENT)
    assert house.said("sms") == ["Take your pills"]
    assert await house.store.column("select state from notifications") == ["sent"]
