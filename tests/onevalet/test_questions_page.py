"""The page about questions: what it shows is what a person reads."""

from core.questions.types import Asked
from core.questions.wording import in_words, with_keys
from tests.shipping.harness import read


def test_what_the_page_shows_is_what_is_said() -> None:
    asks = (
        Asked("kind", "Which pizza?", ("Margherita", "Funghi")),
        Asked("sauce", "Extra sauce?", ("yes", "no"), skip=True),
    )
    assert "".join(f"    {line}\n" for line in in_words(with_keys(asks)).splitlines()) in read("docs/questions.md")
