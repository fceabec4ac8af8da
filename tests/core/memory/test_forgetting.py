"""Forget is complete: rows, vectors, terms, indexes, and what was said about it, in a dump of the whole database."""

import pytest

from core.memory.momex import Momex
from core.memory.structured import StructuredQuery
from core.memory.work import Job
from core.model_types import ChatMessage, Role, ToolCall
from tests.core.memory.house import caught_up, holding, make_momex
from tests.core.store.house import Store, opened

CANARY = "Quixotania"
"""A word that stands nowhere else."""


class Talk:
    """A person who writes, and an assistant that answers, with everything that this leaves in the database."""

    def __init__(self, store: Store, momex: Momex) -> None:
        self.store = store
        self.momex = momex
        self.tenant_id = ""

    async def turn(self, text: str, reply: str, act: str = "") -> None:
        """Say something, have it answered and delivered, and let memory's job run. `act`: what a tool then does."""
        await self.store.say(text)
        lease, turn = await self.store.claim_turn()
        self.tenant_id = lease.tenant_id
        memory = self.momex.for_tenant(lease.tenant_id, turn.turn_id)
        call = ToolCall("c1", "look", '{"what": "' + text.replace('"', "") + '"}')
        await self.store.database.call(
            "select record_step($1,$2,$3,$4,'',0,0,'model','m','','read','done','ok','',$5,'{}',1)",
            lease.tenant_id, lease.lane_id, lease.fence, turn.turn_id,
            ChatMessage(Role.ASSISTANT, reply, (call,)).to_json(),
        )  # fmt: skip
        if act == "ask":
            assert await memory.ask_to_forget(CANARY)
            assert await memory.forget() == 0, "nobody has agreed yet"
        if act == "forget":
            assert await memory.forget() > 0
        assert not await self.store.finish(lease, turn, reply)
        await self.store.send(await self.store.claim_sending(reply))
        await self.work()

    async def work(self) -> None:
        """Do every job of memory that waits."""
        while job := await self.momex.work.claim(None, "w"):
            await self.momex.work.run(job)

    async def dump(self) -> dict[str, str]:
        """Give the tables in which the word stands, with their rows as text."""
        tables = await self.store.column("select tablename::text from pg_tables where schemaname = 'public'")
        found = {
            str(t): str(await self.store.one(f"select string_agg(x::text, ' ') from {t} x where x::text ~* $1", CANARY))  # noqa: S608
            for t in tables
        }
        return {table: rows for table, rows in found.items() if rows != "None"}


@pytest.mark.xdist_group("typeagent")
async def test_what_is_forgotten_is_nowhere_in_a_dump_nor_in_any_workers_index(database_url: str) -> None:
    async with opened(database_url) as store:
        mine = make_momex(store.database, structured=True)
        other = make_momex(store.database, structured=True)
        talk = Talk(store, mine)
        await talk.turn(f"I spent my holidays in {CANARY}. I like tea.", "Lovely!")
        await talk.turn("Where was I?", f"You told me that you were in {CANARY}.")
        assert await holding(mine, talk.tenant_id) == [
            f"I spent my holidays in {CANARY}.", "I like tea.", f"You told me that you were in {CANARY}.",
        ]  # fmt: skip
        assert await caught_up(other, talk.tenant_id) == {talk.tenant_id: 3}
        before = await talk.dump()
        assert {"inbound", "history", "steps", "outbound", "outbound_parts", "memories", "memory_terms"} <= set(before)
        await talk.turn(f"Forget {CANARY}", f"I know that you were in {CANARY}. Forget it?", act="ask")
        await talk.turn("yes", f"Done. {CANARY} is gone.", act="forget")
        assert await talk.dump() == {}
        assert await holding(mine, talk.tenant_id) == ["I like tea."]
        for momex in (mine, other):
            assert await caught_up(momex, talk.tenant_id) == {talk.tenant_id: 1}
            assert momex.indexes is not None
            query = StructuredQuery((CANARY.lower(),))
            assert await momex.indexes.search(talk.tenant_id, query, 5) == []
            await momex.close()


async def test_what_is_on_its_way_is_blotted_out_once_it_has_arrived(database_url: str) -> None:
    async with opened(database_url) as store:
        talk = Talk(store, make_momex(store.database))
        await talk.turn(f"I collect stamps from {CANARY}.", "Nice!")
        await talk.turn("Forget that.", "Shall I?", act="ask")
        await store.say("yes")
        lease, turn = await store.claim_turn()
        assert await talk.momex.for_tenant(lease.tenant_id, turn.turn_id).forget() == 1
        assert not await store.finish(lease, turn, f"The stamps from {CANARY} are forgotten.")
        await talk.work()
        assert set(await talk.dump()) == {"outbound", "memory_forgettings"}, "a reply may not change on its way"
        await store.send(await store.claim_sending(f"The stamps from {CANARY} are forgotten."))
        await talk.momex.work.tidy(talk.momex.clock.now())
        assert await talk.dump() == {}


async def test_a_job_whose_worker_died_is_done_by_another_and_adds_nothing_twice(database_url: str) -> None:
    async with opened(database_url) as store:
        momex = make_momex(store.database)
        talk = Talk(store, momex)
        await store.say("I like tea.")
        lease, turn = await store.claim_turn()
        talk.tenant_id = lease.tenant_id
        assert not await store.finish(lease, turn, "Noted, you like your tea hot.")
        first = await momex.work.claim(turn.turn_id, "dead")
        assert first == Job(lease.tenant_id, turn.turn_id, 1)
        assert await momex.work.claim(turn.turn_id, "w2") is None, "it is held"
        await momex.work._do(first)  # all of it, and then the worker dies
        await store.eye.execute("update memory_jobs set lease_until = now() - interval '1 second'")
        await talk.work()
        assert await holding(momex, lease.tenant_id) == ["I like tea.", "Noted, you like your tea hot."]
        assert await store.column("select id from memory_jobs") == []
