"""An answer for the ear: no links, codes, code and tables, and no more than anybody listens to."""

import pytest

from abilities.speech.ear import CHARACTERS, for_the_ear
from core.language.catalogue import speaking

REST = "The rest is written above."


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("**Hello** Ann!\nIt is [sunny](https://x.org) today.", "Hello Ann! It is sunny today."),
        ("# Plan\n1. Get up\n2. Go to work\n\n> in time", "Plan. Get up. Go to work. in time."),
        ("It rains 🌧️ → take a coat. See https://a.org/c_d?e for more.", "It rains take a coat."),
        ("The article (https://a.org/b) says that it rains.", "The article says that it rains."),
        ("Run `rm -rf /*; x` now. Use `ls` first.", "Use ls first."),
        ("I will mail Sam. Write `OK 7K` to approve, or NO 7K.", "I will mail Sam."),
        ("Your code is 123 456. The code of conduct has 3 parts.", "The code of conduct has 3 parts."),
        ("Tu código es AB12CD. Hasta luego.", "Hasta luego."),
        ("Token: sk_live_abc123def456. Done.", "Done."),
        ("Flight LH123 at 10:30 costs $12.50, gate B7.", "Flight LH123 at 10:30 costs $12.50, gate B7."),
        ("今天很好。明天下雨！", "今天很好。 明天下雨！"),
        ("Before.\n\n```\nls\n```\n\nAfter.", f"Before. After. {REST}"),
        ("Prices:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", f"Prices: {REST}"),
        ("https://a.org", ""),
        ("```\nls\n```", ""),
        ("🎉", ""),
        ("", ""),
    ],
)
def test_what_is_written_for_the_eye_is_left_out(written: str, spoken: str) -> None:
    assert for_the_ear(written) == spoken


def test_a_long_answer_ends_after_six_sentences_and_says_so() -> None:
    assert for_the_ear("One. Two. Three. Four. Five. Six. Seven.") == f"One. Two. Three. Four. Five. Six. {REST}"
    assert for_the_ear("One. Two. Three. Four. Five. Six.") == "One. Two. Three. Four. Five. Six."
    with speaking("de"):
        assert for_the_ear("Eins. " * 9).endswith("Der Rest steht oben.")


def test_a_sentence_without_an_end_is_cut_between_words() -> None:
    said = for_the_ear("word " * 5_000)
    assert said.endswith(f"word … {REST}")
    assert len(said) < CHARACTERS + 40
