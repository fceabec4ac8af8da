"""Groups that are opened by what the person writes, before the model is asked."""

import pytest

from core.tools.toolbox import ToolGroup, likely_groups

TRAVEL = ToolGroup("travel", "flight, flights, fly")
SEVERAL = [TRAVEL, ToolGroup("weather", "rain"), ToolGroup("mail", "email")]


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("find me a FLIGHT to Rome", ("travel",)),
        ("fly!", ("travel",)),
        ("a butterfly", ()),
        ("flightless birds", ()),
        ("plain", ()),
        ("", ()),
    ],
)
def test_a_text_opens_a_group_by_whole_words(text: str, opened: tuple[str, ...]) -> None:
    assert likely_groups([TRAVEL, "plain", ToolGroup("wordless")], text) == opened


def test_a_text_that_speaks_of_many_opens_two() -> None:
    assert likely_groups(SEVERAL, "email me whether it will rain before my flight") == ("travel", "weather")
