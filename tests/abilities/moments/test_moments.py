"""Moments as people write them, in six languages."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from abilities.moments.moments import read, read_moment

# It is Tuesday, 24 November 2026, 10:30.
NOW = datetime.fromisoformat("2026-11-24T10:30")
MOMENTS = {
    "en": {
        "3": "11-24 15:00",
        "at 3pm": "11-24 15:00",
        "3 am": "11-25 03:00",
        "12:56": "11-24 12:56",
        "8": "11-24 20:00",
        "8:00 am": "11-25 08:00",
        "tomorrow at 9": "11-25 09:00",
        "noon tomorrow": "11-25 12:00",
        "monday 10": "11-30 10:00",
        "next Monday at 9": "11-30 09:00",
        "Friday": "11-27 09:00",
        "in 20 minutes": "11-24 10:50",
        "in half an hour": "11-24 11:00",
        "in an hour": "11-24 11:30",
        "in 2 days": "11-26 10:30",
        "tonight": "11-24 20:00",
        "4 December": "12-04 09:00",
        "December 4th at 18:00": "12-04 18:00",
        "the day after tomorrow at 5pm": "11-26 17:00",
        "2026-12-24T18:00": "12-24 18:00",
        "2026-12-24 18:00": "12-24 18:00",
        "2026-12-24": "12-24 09:00",
    },
    "de": {
        "um 15 Uhr": "11-24 15:00",
        "morgen um 9": "11-25 09:00",
        "morgen um 9 Uhr 30": "11-25 09:30",
        "in 20 Minuten": "11-24 10:50",
        "in einer Stunde": "11-24 11:30",
        "in einer halben Stunde": "11-24 11:00",
        "am Freitag um 18 Uhr": "11-27 18:00",
        "nächsten Montag um 9:00": "11-30 09:00",
        "heute Abend": "11-24 20:00",
        "übermorgen um 5 Uhr nachmittags": "11-26 17:00",
        "4. Dezember um 8:30": "12-04 08:30",
        "am 04.12.2026": "12-04 09:00",
    },
    "es": {
        "a las 3 de la tarde": "11-24 15:00",
        "mañana a las 9": "11-25 09:00",
        "en 20 minutos": "11-24 10:50",
        "en media hora": "11-24 11:00",
        "dentro de una hora": "11-24 11:30",
        "el viernes a las 18:00": "11-27 18:00",
        "el próximo lunes a las 9": "11-30 09:00",
        "pasado mañana a las 5 de la tarde": "11-26 17:00",
        "esta noche": "11-24 20:00",
        "el 4 de diciembre a las 8:30": "12-04 08:30",
    },
    "fr": {
        "à 15h": "11-24 15:00",
        "aujourd'hui à 15 h": "11-24 15:00",
        "demain à 9h30": "11-25 09:30",
        "dans 20 minutes": "11-24 10:50",
        "dans une demi-heure": "11-24 11:00",
        "dans 2 heures": "11-24 12:30",
        "vendredi à 18h": "11-27 18:00",
        "lundi prochain à 9h": "11-30 09:00",
        "après-demain à 17 heures": "11-26 17:00",
        "ce soir": "11-24 20:00",
        "le 4 décembre à 8h30": "12-04 08:30",
    },
    "pt": {
        "às 15h": "11-24 15:00",
        "amanhã às 9": "11-25 09:00",
        "amanhã às 9h30": "11-25 09:30",
        "em 20 minutos": "11-24 10:50",
        "daqui a uma hora": "11-24 11:30",
        "em meia hora": "11-24 11:00",
        "sexta-feira às 18h": "11-27 18:00",
        "na próxima segunda às 9h": "11-30 09:00",
        "depois de amanhã às 5 da tarde": "11-26 17:00",
        "hoje à noite": "11-24 20:00",
        "no dia 4 de dezembro às 8:30": "12-04 08:30",
    },
    "zh": {
        "下午3点": "11-24 15:00",
        "明天上午9点": "11-25 09:00",
        "明天早上八点半": "11-25 08:30",
        "20分钟后": "11-24 10:50",
        "一个小时后": "11-24 11:30",
        "半小时后": "11-24 11:00",
        "星期五下午6点": "11-27 18:00",
        "下周一上午9点": "11-30 09:00",
        "后天下午5点": "11-26 17:00",
        "今晚": "11-24 20:00",
        "12月4日上午8点30分": "12-04 08:30",
    },
}
EACH = [(language, text, meant) for language, moments in MOMENTS.items() for text, meant in moments.items()]


@pytest.mark.parametrize(("language", "text", "meant"), EACH)
def test_a_moment_is_read_in_the_persons_language(language: str, text: str, meant: str) -> None:
    assert str(read_moment(text, NOW, language)) == f"2026-{meant}:00"


@pytest.mark.parametrize(("language", "text", "meant"), EACH)
def test_a_moment_is_read_where_no_language_is_known(language: str, text: str, meant: str) -> None:
    assert str(read_moment(text, NOW)) == f"2026-{meant}:00"


@pytest.mark.parametrize(
    "text",
    [
        "25:00", "soon", "13pm", "1/2/2027", "today", "heute", "12:75", "at", "", "9 bananas",
        "mañana a las 27", "later", "bald", "un jour", "2026-13-45", "31 February", "call mum", "in a while",
    ],
)  # fmt: skip
def test_what_names_no_one_moment_is_not_guessed(text: str) -> None:
    assert read_moment(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "day", "clock"),
    [
        ("2026-12-24", "2026-12-24", None),
        ("2026-12-24 18:00", "2026-12-24", "18:00"),
        ("Friday", "2026-11-27", None),
        ("tomorrow at 9", "2026-11-25", "09:00"),
        ("at 3pm", None, "15:00"),
        ("15", None, "15:00"),
        ("tonight", "2026-11-24", "20:00"),
        ("noon", None, "12:00"),
        ("today", "2026-11-24", None),
        ("in 2 days", "2026-11-26", None),
        ("in 20 minutes", "2026-11-24", "10:50"),
        ("soon", None, None),
        ("2 hours", None, None),
        ("Friday, 18:00", "2026-11-27", "18:00"),
        ("Tomorrow,", "2026-11-25", None),
    ],
)
def test_a_day_and_a_time_of_day_are_told_apart(text: str, day: str | None, clock: str | None) -> None:
    found = read(text, NOW, "en")
    assert found.day == (date.fromisoformat(day) if day else None)
    assert found.clock == (time.fromisoformat(clock) if clock else None)


@pytest.mark.parametrize(
    "text",
    ["in 9999 years", "in 999 years and 9999 months and 9999 weeks and 9999 years", "31.12.9999 at 24:00", "9 " * 200],
)
def test_what_no_calendar_has_is_asked_about(text: str) -> None:
    assert read_moment(text, NOW.replace(tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("zone", "text", "offset"),
    [
        ("America/Chicago", "tomorrow 9am CST", -6),
        ("Asia/Shanghai", "tomorrow 9am CST", 8),
        ("Asia/Kolkata", "tomorrow 9am IST", 5.5),
        ("Europe/Berlin", "tomorrow 9am CST", None),
        ("Europe/Berlin", "morgen 9 Uhr MESZ", None),
    ],
)
def test_a_short_name_of_several_zones_is_that_of_the_persons_own_clock(
    zone: str, text: str, offset: float | None
) -> None:
    moment = read_moment(text, NOW.replace(tzinfo=ZoneInfo(zone)))
    assert (moment and moment.utcoffset()) == (None if offset is None else timedelta(hours=offset))
