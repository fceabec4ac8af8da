"""The page about questions: its code runs, and what it shows is what a person reads."""

from pathlib import Path

from core.questions.types import Asked
from core.questions.wording import in_words, with_keys
from tests.onevalet.pages import page_folder as page_folder
from tests.onevalet.pages import run_tests, write_blocks
from tests.shipping.harness import read


async def test_the_code_of_the_page_about_questions_runs(page_folder: Path) -> None:
    assert await run_tests(write_blocks("docs/questions.md", page_folder)) == [
        "test_a_table_has_its_fields",
        "test_a_pizza_is_asked_for",
    ]


def test_what_the_page_shows_is_what_is_said() -> None:
    asks = (
        Asked("kind", "Which pizza?", ("Margherita", "Funghi")),
        Asked("sauce", "Extra sauce?", ("yes", "no"), skip=True),
    )
    assert "".join(f"    {line}\n" for line in in_words(with_keys(asks)).splitlines()) in read("docs/questions.md")
