"""One table of what people say about a moment, a file of a language, with the right value and why it is right.

A line that begins a group says when it is asked, in Berlin, and why its values are right. A value with the name of a
zone is settled by the text; after a question mark stand the words that are asked about.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from abilities.moments.moments import read
from abilities.moments.reading import Reading
from abilities.moments.words.languages import LANGUAGES

BERLIN = ZoneInfo("Europe/Berlin")
TABLES = Path(__file__).parent / "tables"
FEWEST = 60


def rows(language: str) -> Iterator[tuple[datetime, str, str]]:
    """Yield when a text is said, the text, and what it means."""
    now = None
    for line in (TABLES / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            assert now is not None
            said, _, meant = line.strip().partition(" = ")
            yield now, said, meant
        elif line:
            now = datetime.fromisoformat(line.split()[0]).replace(tzinfo=BERLIN)


def shown(found: Reading) -> str:
    """Return a reading as the table has it."""
    if found.moment is None:
        return f"? {', '.join(found.unread)}"
    if found.moment.tzinfo is None:
        return f"{found.moment:%Y-%m-%d %H:%M}"
    return f"{found.moment.astimezone(BERLIN):%Y-%m-%d %H:%M %Z}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_moment_of_the_table_is_read_as_it_is_meant(language: str) -> None:
    table = list(rows(language))
    assert len({said for _, said, _ in table}) >= FEWEST
    wrong = {said: read_as for now, said, meant in table if (read_as := shown(read(said, now, language))) != meant}
    assert wrong == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_known_language_a_moment_means_the_same_or_nothing(language: str) -> None:
    read_as = [(said, meant, shown(read(said, now))) for now, said, meant in rows(language) if meant[0] != "?"]
    assert {said: found for said, meant, found in read_as if found != meant and found[0] != "?"} == {}
    asked = [said for said, _, found in read_as if found[0] == "?"]
    assert len(asked) * 20 <= len(read_as), f"too many are asked about: {asked}"
