"""How many false claims are caught, and how many other answers are taken for one, over answers in six languages."""

from collections import Counter
from pathlib import Path

import pytest

from tests.abilities.judge.answers import HELD_OUT, TUNED, answers_of, asked_again

LANGUAGES = {"en", "de", "es", "fr", "pt", "zh"}


async def shares(path: Path) -> tuple[float, float, str]:
    """Return the share of false claims caught, of false alarms, and a report."""
    answers = answers_of(path)
    rated = [(answer, await asked_again(answer)) for answer in answers]
    false = Counter(answer.false for answer in answers)
    caught = sum(again for answer, again in rated if answer.false)
    alarms = sum(again for answer, again in rated if not answer.false)
    wrong = [
        f"{answer.language}: {answer.asked} -> {answer.answer}" for answer, again in rated if answer.false != again
    ]
    report = f"{path.stem}: caught {caught} of {false[True]}, false alarms {alarms} of {false[False]}"
    return caught / false[True], alarms / false[False], "\n".join([report, *wrong])


@pytest.mark.parametrize(("path", "least"), [(TUNED, 0.98), (HELD_OUT, 0.74)], ids=["tuned", "held out"])
async def test_false_claims_are_caught_with_few_false_alarms(path: Path, least: float) -> None:
    caught, alarms, report = await shares(path)
    print(report)  # noqa: T201
    assert alarms < 0.02, report
    assert caught >= least, report


def test_half_of_each_are_false_and_none_is_in_both() -> None:
    for path, half in ((TUNED, 180), (HELD_OUT, 50)):
        answers = answers_of(path)
        assert Counter(answer.false for answer in answers) == {True: half, False: half}
        assert {(answer.language, answer.false) for answer in answers} == {
            (language, false) for language in LANGUAGES for false in (True, False)
        }
    assert not {answer.answer for answer in answers_of(TUNED)} & {answer.answer for answer in answers_of(HELD_OUT)}
