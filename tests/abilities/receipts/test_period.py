"""Which days a person means: a number of days, a month in any language, or a year."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from abilities.receipts.ability import ABILITY
from abilities.receipts.period import bounds, read_days
from abilities.receipts.types import Days
from core.messaging.chat_reader import ChatWords

TODAY = date(2026, 11, 30)
OCTOBER = Days(date(2026, 10, 1), date(2026, 10, 31))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("", Days(date(2026, 11, 1), TODAY)),
        ("1", Days(TODAY, TODAY)),
        ("7 days", Days(date(2026, 11, 24), TODAY)),
        ("7 Tage", Days(date(2026, 11, 24), TODAY)),
        ("7 días", Days(date(2026, 11, 24), TODAY)),
        ("7 jours", Days(date(2026, 11, 24), TODAY)),
        ("7 dias", Days(date(2026, 11, 24), TODAY)),
        ("7天", Days(date(2026, 11, 24), TODAY)),
        ("2026-10", OCTOBER),
        ("October", OCTOBER),
        ("oct", OCTOBER),
        ("Oct.", OCTOBER),
        ("Oktober", OCTOBER),
        ("octubre de 2026", OCTOBER),
        ("octobre", OCTOBER),
        ("outubro", OCTOBER),
        ("十月", OCTOBER),
        ("10月", OCTOBER),
        ("December", Days(date(2025, 12, 1), date(2025, 12, 31))),
        ("november", Days(date(2026, 11, 1), TODAY)),
        ("feb 2024", Days(date(2024, 2, 1), date(2024, 2, 29))),
        ("2025", Days(date(2025, 1, 1), date(2025, 12, 31))),
        ("2026-13", None),
        ("9999", None),
        ("0001-01", None),
        ("0", None),
        ("please", None),
        ("7 pears", None),
    ],
)
def test_days_are_read_as_people_name_them(text: str, days: Days | None) -> None:
    assert read_days(text, TODAY) == days


@pytest.mark.parametrize(
    ("message", "argument"),
    [
        ("receipts", ""),
        ("Receipts 7 days", "7 days"),
        ("belege oktober", "oktober"),
        ("recibos octubre de 2026", "octubre de 2026"),
        ("reçus 2026-10", "2026-10"),
        ("回执 10月", "10月"),
        ("RECEIPTS.", ""),
        ("receipts for my taxes", None),
        ("where are my receipts", None),
    ],
)
def test_the_word_is_read_with_its_period_and_in_no_sentence(message: str, argument: str | None) -> None:
    command = ChatWords(ABILITY.words).read(message, "sms")
    assert (command.argument if command else None) == argument


def test_a_period_begins_and_ends_at_midnight_where_the_person_is() -> None:
    begin, end = bounds(OCTOBER, ZoneInfo("Europe/Berlin"))
    assert (begin, end) == (datetime(2026, 9, 30, 22, tzinfo=UTC), datetime(2026, 10, 31, 23, tzinfo=UTC))
    assert bounds(Days(TODAY, date.max), UTC)[1].year == 9999
