"""What people read of their memory, in German and Chinese: none of our English is left in it."""

from datetime import UTC, datetime
from typing import cast

import pytest

from abilities.memory.commands import MAX_SHOWN, answer_memory, listed
from abilities.memory.momex import Momex
from abilities.memory.tools_api import shown
from abilities.memory.types import Kind, Memory
from core.errors import ToolRetry
from core.language.catalogue import LANGUAGES, speaking
from core.tools.memory_access import MemoryAccess
from tests.abilities.memory.harness import told
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


DAYS = {
    "en": "Sat 21 Nov 2026",
    "de": "Sa., 21. Nov. 2026",
    "es": "sáb, 21 nov 2026",
    "fr": "sam. 21 nov. 2026",
    "pt": "sábado, 21/11/2026",
    "zh": "2026年11月21日周六",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_lists_of_memories_have_days_in_the_persons_words(language: str) -> None:
    with speaking(language):
        lines = [shown(memory(7, kind, until)).line() for kind in Kind for until in (None, AT)]
        lines += listed([shown(memory(7, Kind.TOLD))]).splitlines()[2:3]
    assert [DAYS[language] in line for line in lines] == [True] * len(lines)
    assert [line.count(DAYS[language]) for line in lines] == [1, 2, 1, 2, 1, 2, 1]
    assert not any("2026-11-21" in line for line in lines)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_line_is_known_again_in_each_language(momex: Momex, language: str) -> None:
    await momex.add_now("ann", [told("I row on Tuesdays (with Bo).")])
    mine = momex.for_tenant("ann", "t1")
    with speaking(language):
        [line] = [each.line() for each in await mine.ask_to_forget("row")]
    with pytest.raises(ToolRetry, match="not what is remembered"):
        await mine.forget([line.replace("Bo", "Al")])
    with pytest.raises(ToolRetry, match="not what is remembered"):
        await mine.forget([f"{line} (and more)"])
    assert await mine.forget([line]) == 1, "whatever is spoken by then"


async def test_a_line_of_an_older_card_is_known_again(momex: Momex) -> None:
    await momex.add_now("ann", [told("I row on Tuesdays.")])
    assert await momex.for_tenant("ann", "t1").forget(["1. I row on Tuesdays. (2026-06-15, you told me)"]) == 1
