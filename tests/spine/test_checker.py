"""What the spine's checker calls doubled, sent again knowingly, and out of order."""

import pytest

from tests.spine.checker import count_repeats

KEPT = {"ann": ["m1", "m2", "m3"]}


@pytest.mark.parametrize(
    ("got", "lost_answers", "counts"),
    [
        (["m1", "m2", "m3"], set(), (0, 0, 0)),
        (["m1", "m1", "m2", "m3"], set(), (0, 1, 1)),
        (["m1", "m1", "m2", "m3"], {"m2"}, (0, 1, 1)),
        (["m1", "m1", "m2", "m3"], {"m1"}, (1, 0, 0)),
        (["m1", "m2", "m1", "m3", "m3"], {"m1"}, (1, 1, 1)),
        (["m2", "m1", "m3"], {"m1"}, (0, 0, 1)),
        (["m1", "m3"], {"m2"}, (0, 0, 1)),
    ],
)
def test_only_what_was_journalled_as_lost_may_come_twice(
    got: list[str], lost_answers: set[str], counts: tuple[int, int, int]
) -> None:
    assert count_repeats(KEPT, {"ann": got}, lost_answers) == counts
