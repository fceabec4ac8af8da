"""Whom, where and when, without a database."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.notifications.types import Notification, NotificationStatus, Urgency
from core.people.tenant import QuietHours
from notify.policy import compose_digest, decide, next_digest, order_places, quiet_until, zone_of
from notify.types import NotificationTarget, Recipient, StoredNotification

NIGHT = QuietHours(time(22), time(7))
BERLIN = Recipient("Europe/Berlin", quiet=NIGHT)
NEWS = Notification("news", "price")


def at(text: str) -> datetime:
    """Return a moment of Berlin's in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=zone_of(BERLIN)).astimezone(UTC)


def test_quiet_hours_hold_what_is_not_urgent_until_they_end() -> None:
    decision = decide(BERLIN, NEWS, at("2026-11-21T23:30"), 30)
    assert (decision.status, decision.until) == (NotificationStatus.HELD, at("2026-11-22T07:00"))
    assert decide(BERLIN, NEWS, at("2026-11-22T07:00"), 30).status is NotificationStatus.QUEUED
    urgent = replace(NEWS, urgency=Urgency.URGENT)
    assert decide(BERLIN, urgent, at("2026-11-21T23:30"), 0).status is NotificationStatus.QUEUED


def test_low_news_waits_for_the_digest_and_the_cap_holds_until_then() -> None:
    noon = at("2026-11-21T12:00")
    low = decide(BERLIN, replace(NEWS, urgency=Urgency.LOW), noon, 30)
    assert (low.status, low.until) == (NotificationStatus.HELD, at("2026-11-22T07:00"))
    assert next_digest(Recipient(), noon) == datetime(2026, 11, 22, 8, tzinfo=UTC)
    recipient = replace(BERLIN, recent=(at("2026-11-21T00:01"), at("2026-11-21T11:00"), at("2026-11-20T23:59")))
    assert decide(recipient, NEWS, noon, 3).status is NotificationStatus.QUEUED
    assert decide(recipient, NEWS, noon, 2).status is NotificationStatus.HELD


def test_muted_is_muted_and_all_but_urgent_can_be() -> None:
    now, urgent = at("2026-11-21T12:00"), replace(NEWS, urgency=Urgency.URGENT)
    assert decide(replace(BERLIN, muted=("price",)), urgent, now, 30).status is NotificationStatus.MUTED
    assert decide(replace(BERLIN, muted=("mail",)), NEWS, now, 30).status is NotificationStatus.QUEUED
    everything = replace(BERLIN, muted=("*",))
    assert [decide(everything, notification, now, 30).status for notification in (NEWS, urgent)] == [
        NotificationStatus.MUTED,
        NotificationStatus.QUEUED,
    ]


_ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "", "No/Where"]


@given(
    ahead=st.timedeltas(timedelta(), timedelta(days=700)),
    start=st.times(),
    end=st.times(),
    zone=st.sampled_from(_ZONES),
)
def test_quiet_hours_end_within_a_day_and_an_hour_and_are_over_then(
    ahead: timedelta, start: time, end: time, zone: str
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC) + ahead
    person = Recipient(zone, quiet=QuietHours(start, end))
    until = quiet_until(person, now)
    if until is not None:
        assert now < until <= now + timedelta(hours=25)
        assert quiet_until(person, until) is None or start == end
    assert now < next_digest(person, now) <= now + timedelta(hours=25)


@pytest.mark.parametrize(("day", "hours"), [("2026-03-28", 8), ("2026-10-24", 10), ("2026-07-01", 9)])
def test_promise_13_quiet_nights_follow_both_clock_changes(day: str, hours: int) -> None:
    began = at(f"{day}T22:00")
    assert quiet_until(BERLIN, began) == began + timedelta(hours=hours)


def place(channel: str, hour: int | None = None, thread: str = "") -> NotificationTarget:
    """Make a place; `hour`: when the person wrote there last."""
    last = datetime(2026, 11, 21, hour, tzinfo=UTC) if hour is not None else None
    return NotificationTarget(f"i-{channel}", channel, "a", "p", thread, f"c-{channel}{thread}" if last else "", last)


def test_places_are_tried_in_the_order_a_person_would_expect() -> None:
    places = (
        place("email"),
        place("push"),
        place("sms"),
        place("telegram", 9),
        place("slack", 11),
        place("slack", 8, "t"),
    )
    person = Recipient(places=places)
    names = ["sms", "telegram", "slack", "push", "email"]

    def order(person: Recipient, **more: object) -> list[str]:
        return [place.channel + place.thread for place in order_places(person, names, **more)]  # type: ignore[arg-type]

    assert order(person) == ["slack", "telegram", "sms", "email", "push"]
    assert order(replace(person, preferred_channel="push"))[0] == "push"
    assert order(replace(person, preferred_channel="sms"), wanted="c-telegram")[:2] == ["telegram", "sms"]
    assert order(person, wanted="c-slackt")[0] == "slackt"
    assert order(person, tried=["i-slack"]) == ["telegram", "sms", "email", "push"]
    assert [place.channel for place in order_places(person, ["email"])] == ["email"]


def test_a_digest_holds_all_that_was_held_in_order_with_the_persons_times() -> None:
    held = [
        StoredNotification(
            f"n{hour}",
            Notification(f"text {hour}\nsecond line"),
            NotificationStatus.HELD,
            datetime(2026, 11, 21, hour, tzinfo=UTC),
        )
        for hour in (22, 23)
    ]
    digest = compose_digest(held, zone_of(BERLIN))
    assert digest.text == (
        "2 things waited for you:\n\n- 23:00: text 22\n  second line\n- 00:00: text 23\n  second line"
    )
