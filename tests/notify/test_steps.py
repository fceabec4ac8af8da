"""The counter of steps counts the work's own, whatever other threads do: xdist has one, which hears of new tests."""

import threading

from tests.notify.steps import count_steps


def spin(rounds: int) -> None:
    for _ in range(rounds):
        pass


def in_a_thread(rounds: int) -> None:
    other = threading.Thread(target=spin, args=(rounds,))
    other.start()
    other.join()


def test_the_steps_of_other_threads_are_not_counted() -> None:
    assert count_steps(lambda: spin(10_000)) > 10_000
    assert count_steps(lambda: in_a_thread(10_000)) < 1000
