"""Two people become one, and part again, before two processes that are warm with both: what each keeps follows."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from abilities.memory.index.typeagent_index import StructuredQuery
from abilities.memory.merge import MemoryMerge
from abilities.memory.momex import Momex
from abilities.web.page_cache import PageCache
from core.people.people import People
from core.people.profile import ProfileMerge
from core.people.rate_limit import Counted, Rate, Rates
from core.tools.storage import Storage
from onevalet import Page
from tests.abilities.memory.harness import caught_up, make_momex, told
from tests.core.people.harness import CHAT, PHONE, Harness

pytestmark = [pytest.mark.xdist_group("typeagent")]

ANN, ANN_CHAT = "+15550000001", "7001"
A_MINUTE = 6


@dataclass(frozen=True, slots=True)
class Process:
    """What a process keeps from one turn to the next, each for itself; `counts` without Redis."""

    memory: Momex
    rates: Rates
    counts: Rates
    pages: PageCache
    storage: Storage
    people: People

    async def indexed(self, tenant_id: str, *words: str) -> list[str]:
        """Ask this process's index of a person for words; return what it found."""
        assert self.memory.indexes is not None
        newest = await self.memory.store.version(tenant_id)
        hits = await self.memory.indexes.search(tenant_id, StructuredQuery(words), 9, newest)
        memories = await self.memory.store.memories(tenant_id, [hit.memory_id for hit in hits])
        assert len(memories) == len(hits), "it finds nothing that is not this person's"
        return sorted(memory.text for memory in memories.values())


@pytest.fixture
async def processes(harness: Harness, redis_url: str) -> AsyncIterator[list[Process]]:
    """Yield two processes over one database."""
    database = harness.store.database
    harness.hooks = (MemoryMerge(), ProfileMerge())
    people = People(database, harness.store.make_id, harness.clock)
    made = [
        Process(
            make_momex(database, structured=True), Rates(redis_url), Rates(), PageCache(), Storage(database), people
        )
        for _ in range(2)
    ]
    yield made
    for process in made:
        await process.memory.close()
        await process.rates.close()
        await process.counts.close()


async def two_people(harness: Harness) -> tuple[str, str]:
    """Have two people write; return who stays and who goes."""
    await harness.ask("hello", ANN)
    await harness.ask("hello", ANN_CHAT, CHAT)
    return await harness.tenant(ANN), await harness.tenant(ANN_CHAT, CHAT)


async def become_one(harness: Harness) -> None:
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    assert (await harness.link(code, ANN)).startswith("Linked")


@pytest.mark.parametrize("forgot", [False, True])
async def test_indexes_that_are_warm_with_both_follow(harness: Harness, processes: list[Process], forgot: bool) -> None:
    kept, gone = await two_people(harness)
    first = processes[0]
    await first.memory.add_now(kept, [told("I moor the boat in Whitby.", days_ago=3)])
    violin, garden = "I play the violin in Whitby.", ["I keep tulips.", "I keep roses.", "I keep lilies."]
    await first.memory.add_now(gone, [told(text, days_ago=2) for text in [violin, *garden]])
    if forgot:  # an index of a later epoch
        asked = [each.line() for each in await first.memory.for_tenant(gone, "t0").ask_to_forget("tulips")]
        await first.memory.for_tenant(gone, "t0").forget(asked)
    for process in processes:
        await caught_up(process.memory, kept)
        assert await caught_up(process.memory, gone) == {kept: 1, gone: 3 if forgot else 4}
    await become_one(harness)
    assert await harness.tenant(ANN_CHAT, CHAT) == kept
    for process in processes:
        await caught_up(process.memory, kept)
        assert await process.indexed(kept, "whitby") == ["I moor the boat in Whitby.", violin]
    assert list(await caught_up(first.memory, gone)) == [kept], "who is nobody any more is held by nobody"
    await first.memory.add_now(kept, [told("The bakery is in Whitby.")])
    for process in processes:
        assert await process.indexed(kept, "whitby") == [
            "I moor the boat in Whitby.",
            violin,
            "The bakery is in Whitby.",
        ]
    # The second process is not asked for them before they part.
    assert (await harness.ask("UNLINK", ANN_CHAT, CHAT)).startswith("Taken back")
    assert await harness.tenant(ANN_CHAT, CHAT) == gone
    await first.memory.add_now(gone, [told("My cello is in Whitby.")])
    for process in processes:
        for tenant_id in (kept, gone):
            await caught_up(process.memory, tenant_id)
        assert violin not in await process.indexed(kept, "whitby")
        assert await process.indexed(gone, "whitby") == ["I play the violin in Whitby.", "My cello is in Whitby."]


@pytest.mark.parametrize("counts", ["rates", "counts"])
async def test_one_limit_counts_on_both_channels(harness: Harness, processes: list[Process], counts: str) -> None:
    kept, gone = await two_people(harness)

    async def count(turn: str, sender: str, account: tuple[str, str], process: Process) -> Rate:
        who = await harness.tenant(sender, account)
        return await getattr(process, counts).count(Counted(f"{counts}{turn}", who, *account, 1), A_MINUTE)  # type: ignore[no-any-return]

    first, second = processes if counts == "rates" else (processes[0], processes[0])
    for number in range(2):
        assert await count(f"a{number}", ANN, PHONE, first) is Rate.WITHIN
        assert await count(f"b{number}", ANN_CHAT, CHAT, second) is Rate.WITHIN
    await become_one(harness)
    for number in range(2, 4):
        assert await count(f"a{number}", ANN, PHONE, first) is Rate.WITHIN
        assert await count(f"b{number}", ANN_CHAT, CHAT, second) is Rate.WITHIN
    beyond = [await count("a9", ANN, PHONE, second), await count("b9", ANN_CHAT, CHAT, first)]
    assert beyond == [Rate.BEYOND, Rate.SILENT], "together they have what one person has, and are told once"
    assert gone != kept


async def test_pages_and_all_that_is_read_in_a_turn_follow(harness: Harness, processes: list[Process]) -> None:
    kept, gone = await two_people(harness)
    page, now = Page("https://example.com/", "A", "B"), harness.clock.now()
    for process in processes:
        process.pages.put(gone, page.url, page, now)
    await processes[0].storage.for_tenant(gone).put("notes", "1", "tea")
    await harness.credentials.save(gone, "calendar", {"token": "t"})
    await harness.preferences.set(gone, "quiet", "22-7")
    before = [await everything(harness, process, gone) for process in processes]
    await become_one(harness)
    for process, was in zip(processes, before, strict=True):
        assert await everything(harness, process, kept) == was
        assert process.pages.get(kept, page.url, now) is None, "it is read again, not taken from somebody who is gone"
        assert await process.storage.for_tenant(gone).list("notes") == []


async def everything(harness: Harness, process: Process, tenant_id: str) -> tuple[object, ...]:
    """Return what a turn reads of a person: notes, accounts, quiet hours."""
    notes = [value.value for value in await process.storage.for_tenant(tenant_id).list("notes")]
    quiet = (await process.people.preferences.read(tenant_id)).quiet
    return notes, await harness.credentials.get(tenant_id, "calendar"), quiet
