"""The counter of steps: it sees work that grows with a text's square, and not what other threads do."""

import threading
from collections.abc import Callable

import pytest

from tests.notify.steps import count_steps


def spin(rounds: int) -> None:
    for _ in range(rounds):
        pass


def in_a_thread(rounds: int) -> None:
    other = threading.Thread(target=spin, args=(rounds,))
    other.start()
    other.join()


def removed_one_by_one(text: str) -> str:
    while text:
        text = text[sum(1 for _ in text) // len(text) :]
    return text


def joined_while_looking_back(text: str) -> list[str]:
    kept: list[str] = []
    for letter in text:
        if not any(each == letter for each in kept):
            kept.append(letter)
    return kept


@pytest.mark.parametrize("work", [removed_one_by_one, joined_while_looking_back])
def test_work_that_grows_with_the_square_of_a_text_is_told(work: Callable[[str], object]) -> None:
    short, long = ("".join(map(chr, range(200, 200 + size))) for size in (300, 600))
    assert 3.5 < count_steps(lambda: work(long)) / count_steps(lambda: work(short)) < 4.5


def test_the_steps_of_other_threads_are_not_counted() -> None:
    assert count_steps(lambda: spin(10_000)) >= 10_000
    assert count_steps(lambda: in_a_thread(10_000)) < 1000
