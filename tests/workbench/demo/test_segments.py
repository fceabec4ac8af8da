"""What the demo model says of itself costs little as a text message, in every language."""

import pytest

from core.turns.prompt_lines import LANGUAGE
from notify.sms.gsm import count_segments, fold
from tests.workbench.demo.test_languages import TOOLS, prompt
from tests.workbench.demo.test_model import says
from workbench.demo.model import answer
from workbench.demo.phrases import TABLES

HELLO = {"en": "Hi!", "de": "Hallo!", "es": "¡Hola!", "fr": "Bonjour !", "pt": "Olá!", "zh": "你好！"}
LANGUAGES = ["en", *(table.language for table in TABLES)]


def segments(language: str, text: str) -> int:
    """Return what the answer to a text costs by SMS."""
    return count_segments(fold(answer([prompt(LANGUAGE.format(language=language)), says(text)], TOOLS).text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hello_is_answered_in_one_segment(language: str) -> None:
    assert segments(language, HELLO[language]) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_understood_costs_two_at_most(language: str) -> None:
    assert segments(language, "Xyzzy 42!") <= 2


def test_each_suggestion_is_made_once_and_one_always() -> None:
    said = answer([prompt(), says("What can you do?")], TOOLS).text
    quoted = said.split('"')[1::2]
    assert len(quoted) == len(set(quoted)) >= 1
    assert '"' not in answer([prompt(), says("Hi!")], []).text
