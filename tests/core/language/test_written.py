"""The language of a text, by its words: clear, or not said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.catalogue import LANGUAGES
from core.language.written import language_written


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the weather in Berlin tomorrow?", "en"),
        ("remind me to call mum", "en"),
        ("Wie wird das Wetter morgen in Berlin?", "de"),
        ("Ich komme heute später", "de"),
        ("¿Qué tiempo hará mañana en Madrid?", "es"),
        ("Recuérdame llamar a mamá mañana a las 9", "es"),
        ("Quel temps fait-il demain à Paris ?", "fr"),
        ("j\u2019ai un rendez-vous avec le médecin", "fr"),
        ("Como está o tempo em Lisboa amanhã?", "pt"),
        ("não como nozes e sou vegetariana", "pt"),
        ("明天北京天气怎么样", "zh"),
        ("Meet me at 北京 station, it is on the way", "en"),
        ("明日の天気はどうですか", ""),
        ("Che tempo fa a Roma domani?", ""),
        ("Wat is het weer morgen in Amsterdam?", ""),
        ("Madrid", ""),
        ("OK 7K", ""),
        ("no", ""),
        ("NO 3E", ""),
        ("https://el.example/la/una/de", ""),
        ("", ""),
        ("Как дела?", ""),
    ],
)
def test_language_is_told_by_the_words_or_not_at_all(text: str, language: str) -> None:
    assert language_written(text) == language


@given(st.text())
def test_any_text_has_one_of_our_languages_or_none(text: str) -> None:
    assert language_written(text) in (*LANGUAGES, "")
