"""The search for English that is left: it finds our sentences, and leaves alone what people and languages share."""

import pytest

from tests.core.language.english import english_in


@pytest.mark.parametrize("language", ["de", "zh"])
def test_english_of_ours_is_found_and_a_persons_words_are_not(language: str) -> None:
    assert english_in("It comes next on 2026年3月2日.", language)[:1] == ["It comes next on"]
    assert english_in("Aufgabe 1, „Call mum about the concert“: 任务", language) == []
