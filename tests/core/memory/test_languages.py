"""What people read of their memory, in German and Chinese: none of our English is left in it."""

from datetime import UTC, datetime
from typing import cast

import pytest

from core.language.catalogue import speaking
from core.memory.access import MemoryAccess
from core.memory.commands import MAX_SHOWN, answer_memory, listed
from core.memory.tools_api import LINE, shown
from core.memory.types import Kind, Memory
from tests.core.language.english import english_in

AT = datetime(2026, 11, 21, tzinfo=UTC)


class Nothing:
    """A memory that holds nothing."""

    async def overview(self, most: int) -> list[object]:
        return []


def memory(number: int, kind: Kind, until: datetime | None = None) -> Memory:
    return Memory(f"m{number}", number, "", f"M{number}", "", kind, AT, AT, until)


@pytest.mark.parametrize("language", ["de", "zh"])
async def test_what_is_remembered_is_listed_in_the_persons_language(language: str) -> None:
    memories = [memory(number, kind, until) for number, kind in enumerate(Kind) for until in (None, AT)]
    with speaking(language):
        lines = [shown(each).line() for each in memories]
        texts = [*lines, listed([shown(memories[0])] * (MAX_SHOWN + 1))]
        texts.append(await answer_memory(cast(MemoryAccess, Nothing())))
    assert [english_in(text, language) for text in texts] == [[]] * len(texts)
    assert all("2026-11-21" in line for line in lines), "the line is read again when it is to be forgotten"


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "pt", "zh"])
def test_a_line_is_known_again_in_each_language(language: str) -> None:
    with speaking(language):
        lines = [shown(memory(7, kind, until)).line() for kind in Kind for until in (None, AT)]
    read = [match and (match["number"], match["text"]) for match in map(LINE.fullmatch, lines)]
    assert read == [("7", "M7")] * len(lines)
