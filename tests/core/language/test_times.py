"""Days, times, spans and numbers in a sentence, in each of the six languages."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from core.language.catalogue import LANGUAGES, speaking
from core.language.times import (
    amount_in_words,
    day_in_words,
    duration_in_words,
    interval_in_words,
    moment_in_words,
    near_moment_in_words,
    number_in_words,
    time_in_words,
    weekday_in_words,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 23, 7, 30, tzinfo=UTC)
"""A Monday, 08:30 in Berlin."""


def near(**ahead: float) -> str:
    return near_moment_in_words(NOW + timedelta(**ahead), NOW, BERLIN)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Mon 23 Nov 2026, 08:30"),
        ("de", "Mo., 23. Nov. 2026, 08:30 Uhr"),
        ("es", "lun, 23 nov 2026, 8:30"),
        ("fr", "lun. 23 nov. 2026 à 08:30"),
        ("pt", "segunda, 23/11/2026, 08:30"),
        ("zh", "2026年11月23日周一 08:30"),
    ],
)
def test_a_moment_has_its_whole_date_in_each_language(language: str, words: str) -> None:
    with speaking(language):
        assert moment_in_words(NOW, BERLIN) == words


def test_a_time_that_comes_twice_says_which_of_the_two_it_is() -> None:
    first, second = (datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1))
    assert moment_in_words(first, BERLIN) == "Sun 25 Oct 2026, 02:30 (first time)"
    assert moment_in_words(second, BERLIN) == "Sun 25 Oct 2026, 02:30 (second time)"
    with speaking("de"):
        assert moment_in_words(second, BERLIN) == "So., 25. Okt. 2026, 02:30 Uhr (zum zweiten Mal)"


@pytest.mark.parametrize(
    ("language", "today", "tomorrow", "weekday", "date", "year"),
    [
        (
            "en",
            "today at 15:30",
            "tomorrow at 08:30",
            "on Thursday at 08:30",
            "on 3 December at 08:30",
            "on 2 January 2027 at 08:30",
        ),
        (
            "de",
            "heute um 15:30 Uhr",
            "morgen um 08:30 Uhr",
            "am Donnerstag um 08:30 Uhr",
            "am 3. Dezember um 08:30 Uhr",
            "am 2. Januar 2027 um 08:30 Uhr",
        ),
        (
            "es",
            "hoy a las 15:30",
            "mañana a las 8:30",
            "el jueves a las 8:30",
            "el 3 de diciembre a las 8:30",
            "el 2 de enero de 2027 a las 8:30",
        ),
        (
            "fr",
            "aujourd'hui à 15:30",
            "demain à 08:30",
            "jeudi à 08:30",
            "le 3 décembre à 08:30",
            "le 2 janvier 2027 à 08:30",
        ),
        (
            "pt",
            "hoje às 15:30",
            "amanhã às 08:30",
            "quinta-feira às 08:30",
            "a 3 de dezembro às 08:30",
            "a 2 de janeiro de 2027 às 08:30",
        ),
        ("zh", "今天 15:30", "明天 08:30", "星期四 08:30", "12月3日 08:30", "2027年1月2日 08:30"),
    ],
)
def test_a_near_moment_is_said_from_where_the_person_stands(
    language: str, today: str, tomorrow: str, weekday: str, date: str, year: str
) -> None:
    with speaking(language):
        assert (near(hours=7), near(days=1), near(days=3)) == (today, tomorrow, weekday)
        assert (near(days=10), near(days=40)) == (date, year)


def test_the_day_is_the_persons_and_not_that_of_utc() -> None:
    late = datetime(2026, 11, 23, 22, 30, tzinfo=UTC)
    assert near_moment_in_words(late + timedelta(hours=1), late, BERLIN) == "tomorrow at 00:30"
    assert near_moment_in_words(late + timedelta(hours=1), late, ZoneInfo("UTC")) == "today at 23:30"
    past_midnight = late + timedelta(hours=1)
    assert near_moment_in_words(past_midnight + timedelta(hours=8), past_midnight, BERLIN) == "today at 08:30"
    third = datetime(2026, 12, 2, 23, 30, tzinfo=UTC)
    assert near_moment_in_words(third, NOW, BERLIN) == "on 3 December at 00:30"
    new_year = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    assert near_moment_in_words(new_year, NOW, BERLIN) == "on 1 January 2027 at 00:30"
    assert near_moment_in_words(new_year + timedelta(days=20), new_year, BERLIN) == "on 21 January at 00:30"
    assert moment_in_words(past_midnight, BERLIN) == "Tue 24 Nov 2026, 00:30"


def test_only_the_six_days_ahead_are_named_by_their_weekday() -> None:
    assert (near(days=2), near(days=6)) == ("on Wednesday at 08:30", "on Sunday at 08:30")
    assert near(days=7) == "on 30 November at 08:30"
    assert (near(days=-1), near(days=-2)) == ("yesterday at 08:30", "on 21 November at 08:30")


@pytest.mark.parametrize(
    ("language", "lasts"),
    [
        ("en", "2 hours and 5 minutes"),
        ("de", "2 Stunden und 5 Minuten"),
        ("es", "2 horas y 5 minutos"),
        ("fr", "2 heures et 5 minutes"),
        ("pt", "2 horas e 5 minutos"),
        ("zh", "2 小时和5 分钟"),
    ],
)
def test_a_span_is_said_in_the_units_that_people_use(language: str, lasts: str) -> None:
    with speaking(language):
        assert duration_in_words(timedelta(hours=2, minutes=5)) == lasts


def test_spans_at_the_edges_are_said_too() -> None:
    assert duration_in_words(timedelta()) == "0 seconds"
    assert (
        duration_in_words(timedelta(days=1, hours=2, minutes=3, seconds=4)) == "1 day, 2 hours, 3 minutes and 4 seconds"
    )


@pytest.mark.parametrize(
    ("minutes", "english", "german", "chinese"),
    [
        (1, "every minute", "jede Minute", "每分钟"),
        (30, "every 30 minutes", "alle 30 Minuten", "每 30 分钟"),
        (60, "every hour", "jede Stunde", "每小时"),
        (61, "every 1 hour and 1 minute", "alle 1 Stunde und 1 Minute", "每 1 小时和1 分钟"),
        (5 * 60, "every 5 hours", "alle 5 Stunden", "每 5 小时"),
        (5 * 60 + 1, "every 5 hours and 1 minute", "alle 5 Stunden und 1 Minute", "每 5 小时和1 分钟"),
        (90, "every 1 hour and 30 minutes", "alle 1 Stunde und 30 Minuten", "每 1 小时和30 分钟"),
        (24 * 60, "every day", "jeden Tag", "每天"),
        (72 * 60, "every 3 days", "alle 3 Tage", "每 3 天"),
    ],
)
def test_an_interval_says_how_often(minutes: int, english: str, german: str, chinese: str) -> None:
    assert interval_in_words(timedelta(minutes=minutes)) == english
    with speaking("de"):
        assert interval_in_words(timedelta(minutes=minutes)) == german
    with speaking("zh"):
        assert interval_in_words(timedelta(minutes=minutes)) == chinese


@pytest.mark.parametrize("number", [1e25, 10**60, 1e300, -1e-40])
def test_a_number_of_any_size_is_written(number: float) -> None:
    assert Decimal(number_in_words(number, grouped=False)) == Decimal(str(number))


def test_a_time_a_weekday_and_a_number_are_written_as_the_language_does() -> None:
    said = {}
    for language in LANGUAGES:
        with speaking(language):
            said[language] = (time_in_words(time(9, 5)), weekday_in_words(6), number_in_words(1234567.00025))
    assert said == {
        "en": ("09:05", "Sunday", "1,234,567.00025"),
        "es": ("9:05", "domingo", "1.234.567,00025"),
        "de": ("09:05", "Sonntag", "1.234.567,00025"),
        "fr": ("09:05", "dimanche", "1\u202f234\u202f567,00025"),
        "pt": ("09:05", "domingo", "1\u00a0234\u00a0567,00025"),
        "zh": ("09:05", "星期日", "1,234,567.00025"),
    }
    assert day_in_words(date(2026, 9, 4)) == "Fri 4 Sep 2026"


def test_an_amount_of_money_is_written_as_the_language_does() -> None:
    said = {}
    for language in LANGUAGES:
        with speaking(language):
            said[language] = (amount_in_words(Decimal("1234.5"), "USD"), amount_in_words(Decimal(900), "JPY"))
    assert said == {
        "en": ("US$1,234.50", "JP¥900"),
        "es": ("1.234,50\u00a0US$", "900\u00a0JPY"),
        "de": ("1.234,50\u00a0$", "900\u00a0¥"),
        "fr": ("1\u202f234,50\u00a0$US", "900\u00a0JPY"),
        "pt": ("1\u00a0234,50\u00a0US$", "900\u00a0JP¥"),
        "zh": ("US$1,234.50", "JP¥900"),
    }
    assert amount_in_words(Decimal("1.5"), "NOT A CODE") == "NOT A CODE1.50"
