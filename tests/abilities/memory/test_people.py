"""Promise 11: whose memory it is; shared collections open to members only; sessions; two people become one."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from abilities.memory.merge import MemoryMerge
from abilities.memory.momex import Momex
from core.db.database import Database
from core.errors import ToolFailed
from core.llm.types import ChatMessage, Role
from tests.abilities.memory.harness import holding, make_person, told
from tests.clocks import StandingClock
from tests.examples import examples

WORDS = ["tea", "rowing", "Lisbon", "violin", "tulips", "chess"]
actions = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["say", "search", "forget", "correct"]),
        st.sampled_from(WORDS),
    ),
    min_size=2,
    max_size=12,
)


@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions)
async def test_promise_11_two_people_never_see_each_others_data(
    momex: Momex, database: Database, doings: list[tuple[str, str, str]]
) -> None:
    await make_person(database, "bob")
    for name in ("ann", "bob"):
        async with database.tenant(name) as connection:
            await connection.execute("delete from memories where tenant_id = $1", name)
            await connection.execute("delete from memory_forgettings where tenant_id = $1", name)
    for turn, (who, verb, word) in enumerate(doings):
        mine, other = f"I {who} enjoy {word} nr", "bob" if who == "ann" else "ann"
        access = momex.for_tenant(who, f"turn{turn}")
        before = await holding(momex, other)
        match verb:
            case "say":
                await access.remember(f"{mine} {turn}.", f"{who}{turn}")
            case "forget":
                await access.ask_to_forget(word)
                await momex.for_tenant(who, f"turn{turn}b").forget()
            case "correct":
                for memory in await access.search(word):
                    await access.correct(memory.number, f"{mine} {turn} again.", f"{who}{turn}")
        seen = [memory.text for memory in [*await access.search(f"enjoy {word}"), *await access.overview()]]
        assert all(f"I {who} " in text for text in seen)
        assert await holding(momex, other) == before


async def test_a_shared_collection_is_open_to_its_members_and_to_nobody_else(momex: Momex, database: Database) -> None:
    for name in ("bob", "eve"):
        await make_person(database, name)
    await momex.shared.make("ann", "household:lake")
    await momex.add_now("ann", [told("The spare key is with Mrs Lindqvist.")], collection="household:lake")
    await momex.add_now("ann", [told("I want to surprise Bob with a kayak.")])
    assert await momex.shared.let_in("eve", "household:lake", "eve") is False
    assert await momex.shared.let_in("ann", "household:lake", "bob") is True
    question = "Who has the spare key?"
    for who, sees in (("ann", 1), ("bob", 1), ("eve", 0)):
        assert len((await momex.search(who, question)).found) == sees
    assert not (await momex.search("bob", "kayak surprise")).found
    with pytest.raises(ToolFailed, match="You are not a member"):
        await momex.add_now("eve", [told("The key is mine now.")], collection="household:lake")
    assert await momex.shared.let_in("bob", "household:lake", "eve") is False
    assert await momex.shared.put_out("ann", "household:lake", "bob") is True
    assert not (await momex.search("bob", question)).found


async def test_a_prefix_covers_the_names_below_it_and_no_sibling(momex: Momex) -> None:
    for name in ("work:eng", "work:eng:alice", "work:english", "garden"):
        await momex.add_now("ann", [told(f"The {name} meeting plan is blue.")], collection=name)
    for prefix, count in (("work:eng", 2), ("work", 3), ("garden", 1), ("gar", 0)):
        hits = (await momex.search("ann", "meeting plan", collections=[prefix])).found
        assert len(hits) == count, prefix
    assert len((await momex.search("ann", "meeting plan")).found) == 4


async def test_sessions_are_apart_bounded_and_end(momex: Momex) -> None:
    def said(text: str) -> list[ChatMessage]:
        return [ChatMessage(Role.USER, text), ChatMessage(Role.ASSISTANT, f"Yes, {text}")]

    for number in range(3):
        await momex.save_history("ann", said(f"a{number}"), session="a")
        await momex.save_history("ann", said(f"b{number}"), session="b")
    assert [message.text for message in await momex.get_history("ann", "a")] == [
        "a0", "Yes, a0", "a1", "Yes, a1", "a2", "Yes, a2",
    ]  # fmt: skip
    assert [message.text for message in await momex.get_history("ann", "b", max_messages=2)] == ["b2", "Yes, b2"]
    assert await momex.get_history("bob", "a") == []
    for _ in range(120):
        await momex.save_history("ann", said("more"), session="a")
    assert len(await momex.get_history("ann", "a", max_messages=1000)) == momex.config.max_messages
    assert isinstance(momex.clock, StandingClock)
    momex.clock.at += timedelta(days=8)
    assert await momex.get_history("ann", "a") == []
    await momex.save_history("ann", said("new"), session="a")
    assert len(await momex.get_history("ann", "a")) == 2
    await momex.work.tidy(momex.clock.now())
    kept = await momex.sessions.database.tenant_rows("ann", "select id from memory_sessions where tenant_id = $1")
    assert [row["id"] for row in kept] == ["a"]


async def test_two_people_who_become_one_keep_the_memories_of_both(momex: Momex, database: Database) -> None:
    await make_person(database, "bob")
    await momex.add_now("ann", [told("I like tea.", days_ago=2), told("I play the violin.", days_ago=1)])
    await momex.add_now("bob", [told("I grow tulips.", days_ago=3), told("I row on the lake.")])
    merge = MemoryMerge()
    async with database.tenant("bob") as connection:
        await merge.before(connection, "ann", "bob")
        await connection.execute("create temp table moved as select * from memories where tenant_id = 'bob'")
        await connection.execute("delete from memories where tenant_id = 'bob'")
        await connection.execute("select set_config('onevalet.tenant', 'ann', true)")
        columns = "id,number,collection,text,speaker,kind,source_key,said_at,slot,knowledge,extractor,valid_from"
        await connection.execute(
            f"insert into memories (tenant_id,{columns}) select 'ann',{columns} from moved"  # noqa: S608
        )
        await connection.execute("drop table moved")
        await merge.after(connection, "ann", "bob")
    whole = await momex.store.newest("ann", 10)
    assert [(memory.number, memory.text) for memory in reversed(whole)] == [
        (1, "I like tea."), (2, "I play the violin."), (3, "I grow tulips."), (4, "I row on the lake."),
    ]  # fmt: skip
    version = await momex.store.version("ann")
    assert (version.number, version.epoch) == (4, 1)
