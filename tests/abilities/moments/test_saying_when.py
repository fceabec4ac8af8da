"""What was said about a time is kept whole: it is set and read back, or the words that stand in the way are named."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abilities.moments.saying_when import clock_said, day_said, moment_said, parts_said, said_elsewhere, to_the_minute
from onevalet import ToolRetry, moment_in_words

BERLIN, NEAR = ZoneInfo("Europe/Berlin"), timedelta(minutes=10)
NOWS = [
    datetime.fromisoformat(now).replace(tzinfo=BERLIN)
    for now in ("2026-11-24T22:17", "2026-11-25T00:30", "2026-11-24T12:00", "2027-03-28T01:30", "2026-10-25T01:30")
]
SAID = {
    # A language has days, with how far off they are; parts of a day, with their hours; clocks; zones; words besides.
    "en": (
        "today tomorrow",
        "in the morning|in the evening|tonight",
        "at {h}|at {h}:{m}|at {h}.{m}pm",
        "EST|UTC",
        "or 3",
    ),
    "de": ("heute morgen", "früh|abends|heute Nacht", "um {h}|um {h}:{m}|{h} Uhr {m}", "MEZ|UTC", "gegen 3"),
    "es": ("hoy mañana", "de la mañana|por la noche|esta noche", "a las {h}|a las {h}:{m}", "EST|UTC", "o 3"),
    "fr": ("aujourd'hui demain", "du matin|au soir|ce soir", "à {h}h|à {h}h{m}|à {h}:{m}", "EST|UTC", "vers 3"),
    "pt": ("hoje amanhã", "da manhã|da noite|esta noite", "às {h}|às {h}:{m}|às {h}h{m}", "EST|UTC", "ou 3"),
    "zh": ("今天 明天", "早上|晚上|今晚", "{h}点|{h}:{m}|{h}点{m}分", "EST|UTC", "或者3"),
}
"""Days, parts of a day (its morning, its evening, the coming night), clocks, zones, and words without a meaning."""
OFFSETS = {"EST": -5, "UTC": 0, "MEZ": 1}


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_is_set_is_read_back_whole_and_the_rest_refused_by_its_words(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(sorted(SAID)))
    days, parts, clocks, zones, strange = SAID[language]
    now = data.draw(st.sampled_from(NOWS))
    far = data.draw(st.sampled_from([None, 0, 1]))
    part = data.draw(st.sampled_from([None, 0, 1, 2]))
    hour, minute = data.draw(st.integers(0, 23)), data.draw(st.sampled_from([10, 25, 45]))
    clock = data.draw(st.sampled_from(clocks.split("|")))
    zone = data.draw(st.sampled_from([None, *zones.split("|")]))
    besides = data.draw(st.sampled_from([None, None, None, strange]))
    said_clock = clock.format(h=hour, m=minute)
    words = [
        *([] if far is None or part == 2 else [days.split()[far]]),
        *([] if part is None else [parts.split("|")[part]]),
        said_clock,
        *([] if zone is None else [zone]),
        *([] if besides is None else [besides]),
    ]
    said = " ".join(words)
    try:
        moment = moment_said(said, now, language)
    except ToolRetry as refused:
        text = str(refused)
        if besides is not None:
            assert any(word in text for word in besides.split())
        elif zone in ("EST", "MEZ") and f"“{zone}”" in text:
            assert now.month in (3, 10), "those clocks are called so in winter"
        else:
            # Nothing but the clock can be in the way: in its part of the day it never is, or not on that day.
            assert said_clock in text or said_clock.removesuffix("分") in text
            assert part is not None or "pm" in clock or is_skipped(now, hour, minute if "{m}" in clock else 0)
        return
    assert besides is None, "a word without a meaning was left out"
    wall = moment if zone is None else moment.astimezone(moment.tzinfo)
    assert wall.minute == (minute if "{m}" in clock else 0)
    assert (wall.hour - hour) % 12 == 0
    if part == 0:
        assert wall.hour <= 12
    if part in (1, 2):
        assert wall.hour >= 16 or wall.hour < 7
    if zone is not None:
        assert moment.utcoffset() == timedelta(hours=OFFSETS[zone])
        assert said_elsewhere(said, now, language) == f"{wall:%H:%M} {zone}"
    if far is not None or part == 2:
        days_on = (wall.date() - now.date()).days
        follows = part in (1, 2) and wall.hour < 7
        assert days_on - (0 if part == 2 else far or 0) in ((0, 1) if follows else (0,))
    due = moment if moment.tzinfo else moment.replace(tzinfo=BERLIN)
    assert f"{due.astimezone(BERLIN):%H:%M}" in moment_in_words(due, BERLIN)


def is_skipped(now: datetime, hour: int, minute: int) -> bool:
    """Return whether the clock never shows a time on a day close to now, since it is put forward."""
    walls = [datetime.combine(now.date() + timedelta(days=days), time(hour, minute)) for days in (0, 1)]
    return any(
        wall.replace(tzinfo=BERLIN).astimezone(ZoneInfo("UTC")).astimezone(BERLIN).hour != hour for wall in walls
    )


def test_a_time_for_each_day_is_neither_a_day_nor_a_time_elsewhere() -> None:
    now = NOWS[0]
    assert clock_said("8 in the evening", now, "en") == time(20)
    assert clock_said("半夜2点", now, "zh") == time(2)
    for text in ("tomorrow at 9", "9am EST", "tonight at 9", "in 20 minutes", "around 9"):
        with pytest.raises(ToolRetry, match="I cannot tell when"):
            clock_said(text, now, "en")


def test_a_day_with_a_time_is_no_day_alone() -> None:
    assert day_said("next Friday", NOWS[0], "en") == date(2026, 11, 27)
    with pytest.raises(ToolRetry, match="I cannot tell when"):
        day_said("Friday at 9", NOWS[0], "en")


def test_a_time_elsewhere_needs_its_day_in_a_change_of_a_plan() -> None:
    with pytest.raises(ToolRetry, match="On which day"):
        parts_said("9am EST", NOWS[0], "en")
    found = parts_said("tomorrow 9am JST", NOWS[0], "en")
    assert (found.day, found.clock) == (date(2026, 11, 25), time(1))


def test_the_refusal_names_the_words_as_they_were_written() -> None:
    with pytest.raises(ToolRetry, match="I do not understand “with Bob”") as refused:
        moment_said("Tomorrow at 9 with Bob", NOWS[0], "en")
    assert "ask the person" in refused.value.note


@pytest.mark.parametrize("ahead", [timedelta(minutes=9), timedelta(minutes=20)], ids=["near", "far"])
@pytest.mark.parametrize(
    ("moment", "this", "following"),
    [
        ("2026-11-24T12:00:00", "2026-11-24T12:00:00", "2026-11-24T12:00:00"),
        ("2026-11-24T12:00:01", "2026-11-24T12:00:00", "2026-11-24T12:01:00"),
        ("2026-11-24T23:59:59.5", "2026-11-24T23:59:00", "2026-11-25T00:00:00"),
        ("2027-03-28T01:59:30+01:00", "2027-03-28T01:59:00+01:00", "2027-03-28T03:00:00+02:00"),
    ],
)
@pytest.mark.parametrize("zone", [BERLIN, None], ids=["aware", "naive"])
def test_a_moment_is_planned_for_its_minute_or_if_it_is_near_for_the_next(
    moment: str, this: str, following: str, zone: ZoneInfo | None, ahead: timedelta
) -> None:
    given, wanted = datetime.fromisoformat(moment), datetime.fromisoformat(this if ahead > NEAR else following)
    if zone is not None:
        given, wanted = (one.astimezone(zone) if one.tzinfo else one.replace(tzinfo=zone) for one in (given, wanted))
    now = (given if given.tzinfo else given.replace(tzinfo=BERLIN)).astimezone(UTC) - ahead
    planned = to_the_minute(given, now.astimezone(given.tzinfo or BERLIN))
    assert planned == wanted
    assert zone is None or planned.utcoffset() == wanted.utcoffset()
