"""What people read about consents, in all languages: whole, with its numbers, and with a word that ends them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from core.consents.chat_words import WITHDRAW
from core.consents.types import Agreed, StandingConsent
from core.consents.words import (
    agreed_in_words,
    changed_text,
    consents_text,
    use_text,
    withdrawn_text,
)
from core.json_types import JsonObject
from core.language.catalogue import LANGUAGES, speaking
from core.messaging.chat_reader import chat_words
from tests.core.language.english import OTHERS

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
BOUNDS: JsonObject = {"room": {"is": "#team"}, "text": {"text": 40}, "pinned": {"is": None}}


def consent(number: int) -> StandingConsent:
    agreed = Agreed("ann", "post_update", "v", BOUNDS, 5, NOW + timedelta(days=7), "at once")
    return StandingConsent("cns", number, agreed, agreed.hash, 2, "active", "", NOW, is_whole=True)


def said() -> dict[str, str]:
    """Return everything that is said about consents, by what it is."""
    one, zone = consent(3), ZoneInfo("Europe/Berlin")
    return {
        "covered": agreed_in_words(one.agreed),
        "none": consents_text([], zone, NOW),
        "listed": consents_text([one], zone, NOW),
        "ended": withdrawn_text([3]),
        "several ended": withdrawn_text([3, 4]),
        "used": use_text(one, "2", "post update", [("Text", "Nothing new.")]),
        "changed": changed_text(one),
    }


@pytest.mark.parametrize("language", OTHERS)
def test_each_sentence_is_the_persons_and_keeps_its_numbers(language: str) -> None:
    english = said()
    with speaking(language):
        other = said()
    for name, text in other.items():
        assert text, name
        assert text != english[name], f"{name} is said in English: {text}"
        for number in ("#team", "40", "3", "4", "Nothing new."):
            assert (number in text) is (number in english[name]), (name, number, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_word_that_is_named_ends_a_consent(language: str) -> None:
    with speaking(language):
        word, listed = WITHDRAW.word().upper(), said()["listed"]
    assert f"{word} 3" in listed
    for written in (f"{word} 3", word.lower(), f"/{word} 3"):
        command = chat_words().read(written, "sms")
        assert command is not None
        assert command.name == WITHDRAW.name
        assert command.argument == ("3" if "3" in written else "")
