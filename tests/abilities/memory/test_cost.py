"""What memory and profile add to the round trips of a message, counted on the wire: both are on as shipped."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from abilities.memory import runner as memory_runner
from abilities.memory.momex import Momex
from abilities.memory.opening import load_libraries, open_work
from core.queue.claims import ClaimedWork
from onevalet.ability import Repeated
from tests.abilities.memory.patient_recall import be_patient
from tests.jobs.turns.test_turn_cost import (
    PLAIN_ROUND_TRIPS,
    PLAIN_TRANSACTIONS,
    TOOLS_ROUND_TRIPS,
    TOOLS_TRANSACTIONS,
    Metered,
    open_metered,
)

RECALL = 1
"""Nothing while the person has no memories: how far memory has come is read with the turn."""
NAMED = 1
"""More where the person speaks of "my sister", whose name is looked up first."""
JOB = 2
"""A claim that reads what the job is done with, and a write that ends it."""
TALK = 4
"""For all turns of a quiet talk together: claimed, compared, paid, and stored; the next claim finds none."""
RENEWAL = "renew_lane("
_QUIET = "update profile_jobs set not_before = not_before - interval '1 hour'"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("typeagent")]


@dataclass(slots=True)
class Remembering:
    """A worker as it is shipped, behind a meter, and the work of its memory."""

    metered: Metered
    momex: Momex
    jobs: ClaimedWork[object]
    read_talks: Callable[[], Awaitable[object]]

    async def answer(self, words: str) -> int:
        """Let the person write and be answered; return the round trips that may depend on the machine's speed."""
        await self.metered.answer(words)
        return self.metered.looks()

    async def remember(self) -> int:
        """Do the job of the last turn; return its round trips."""
        self.metered.meter.clear()
        turn = str(await self.metered.store.one("select id from turns order by started_at desc limit 1"))
        job = await self.jobs.claim(turn)
        assert job is not None
        await self.jobs.run(job)
        return self.cost()

    def cost(self) -> int:
        """Return the round trips since the meter was cleared, each a transaction, but for a slow turn's lease."""
        meter = self.metered.meter
        assert meter.transactions == len(meter.statements), self.told()
        return sum(RENEWAL not in statement for statement in meter.statements)

    def told(self) -> str:
        """Return the beginnings of what was asked."""
        return "\n".join(statement[:120] for statement in self.metered.meter.statements)


@pytest.fixture
async def shipped(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Remembering]:
    """Yield a worker with memory and profile on, and with the tools that ship."""
    # No lease is renewed, as it would be where the machine is slow.
    monkeypatch.setattr(memory_runner, "LEASE", timedelta(hours=1))
    on = {"onevalet_memory": "on", "onevalet_plugins": ("agents", "tests.plugins.acting")}
    async with (
        AsyncExitStack() as stack,
        open_metered(database_url, redis_url, tmp_path, monkeypatch, **on) as metered,
    ):
        load_libraries(metered.parts.connections.settings)
        work = {each.name: each for each in open_work(stack, metered.parts.foundation)}
        momex = metered.parts.foundation.recall
        assert isinstance(momex, Momex)
        be_patient(momex)
        assert momex.indexes is not None
        # An index that is made a little later would be counted with the work of that moment: this one never is.
        momex.indexes._config = replace(momex.indexes._config, index_after=3600.0)
        jobs, talks = work["memory"], work["talks"]
        assert isinstance(jobs, ClaimedWork)
        assert isinstance(talks, Repeated)
        yield Remembering(metered, momex, jobs, talks.once)


async def test_without_memories_a_message_is_answered_as_if_memory_were_off(shipped: Remembering) -> None:
    await shipped.answer("hello")
    looks = await shipped.answer("hello again")
    assert shipped.cost() - looks <= PLAIN_ROUND_TRIPS, shipped.told()
    assert await shipped.remember() <= JOB, shipped.told()


async def test_memory_costs_a_statement_before_the_answer_and_two_after_it(shipped: Remembering) -> None:
    for words in ("I live in Bonn with my sister Anna now.", "My dog is called Rex.", "hello"):
        await shipped.answer(words)
        assert await shipped.remember() <= JOB, shipped.told()
    await shipped.metered.store.admin.execute(_QUIET)
    shipped.metered.meter.clear()
    await shipped.read_talks()
    assert shipped.cost() <= TALK + 1, shipped.told()
    indexes, tenant = (
        shipped.momex.indexes,
        str(await shipped.metered.store.one("select tenant_id from memories limit 1")),
    )
    assert indexes is not None
    await indexes.catch_up(tenant)
    assert indexes.held == {tenant: 2}
    for words, most, more in (
        ("Where do I live?", PLAIN_ROUND_TRIPS, RECALL),
        ("Where does my sister live?", PLAIN_ROUND_TRIPS, RECALL + NAMED),
        ("add what my friend owes in Bonn", TOOLS_ROUND_TRIPS, RECALL + NAMED),
        ("I row on Tuesdays.", PLAIN_ROUND_TRIPS, RECALL),
        ("hello, and thanks to Bonn", PLAIN_ROUND_TRIPS, RECALL),
    ):
        looks = await shipped.answer(words)
        assert shipped.cost() - looks <= most + more, shipped.told()
        assert await recalled(shipped) == ["text", "vector", "structured"]
        assert await shipped.remember() <= JOB, shipped.told()
    assert (PLAIN_TRANSACTIONS, TOOLS_TRANSACTIONS) == (PLAIN_ROUND_TRIPS, TOOLS_ROUND_TRIPS), "no begin, no commit"


async def recalled(shipped: Remembering) -> object:
    """Return the searches whose report stands in the path of the last turn."""
    return await shipped.metered.store.one(
        "select array(select l ->> 'leg' from jsonb_array_elements(r.report -> 'legs') l where l ->> 'missed' = '')"
        " from turns t left join memory_recalls r on r.tenant_id = t.tenant_id and r.turn_id = t.id"
        " order by t.started_at desc limit 1"
    )
