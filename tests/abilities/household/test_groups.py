"""The tools of a household are at hand when somebody speaks of it in their own words."""

import pytest

from abilities.calendar.together import household_agenda
from abilities.household.tools import show_household
from abilities.lists.shared_notes import add_shared_note
from abilities.memory.shared_tools import remember_for_us
from core.tools.toolbox import likely_groups

TOOLS = (household_agenda, show_household, add_shared_note, remember_for_us)


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("What is everybody doing on Saturday?", "household"),
        ("Was machen alle am Samstag?", "household"),
        ("Remember for us that the spare key is at Mia's", "household"),
        ("Merk dir für uns: Der Schlüssel ist bei Mia", "household"),
        ("替我们记住：备用钥匙在米娅那里", "household"),
        ("A note for us: the plumber is Mr. Rossi", "notes"),
        ("What is 6 * 7?", None),
    ],
)
def test_words_about_all_open_the_group_of_their_tools(text: str, group: str | None) -> None:
    assert likely_groups([tool.group for tool in TOOLS], text)[:1] == ((group,) if group else ())
