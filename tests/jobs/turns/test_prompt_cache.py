"""Prompts begin like the one before, as far as providers can cache them: measured on what arrives at the model."""

import json
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path

import pytest

from core.agents.pending_answers import WAIT
from tests.abilities.memory.talking import Talking, talking
from tests.jobs.turns.prompt_share import answer, cached_share, talk_with

SHARE = 0.9
"""The least share of the prompts that is byte by byte the beginning of the prompt before."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("model")]


@pytest.fixture
async def person(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Talking]:
    """Yield a person who talks with a worker that remembers by rules, so that the model only answers."""
    by_rules = {"onevalet_memory": "rules"}
    async with talking(database_url, redis_url, tmp_path, monkeypatch, answer, **by_rules) as person:
        yield person


async def test_nine_tenths_of_twenty_messages_prompts_begin_like_the_one_before(
    person: Talking, record_property: Callable[[str, object], None]
) -> None:
    # What the conversation still shows is not recalled: this was said before it.
    await person.say("My brother Ben said that my sister will live in Faro next year.")
    await person.remember()
    await person.store.db.history.delete()
    before = len(person.model.calls)
    asked = (await talk_with(person, "all"))[before:]
    assert len(asked) == 20 + 10, "half of the messages use a tool"
    assert await person.store.db.tasks.count() == 3, "and some are reminders"
    share = cached_share(asked)
    record_property("share", share)
    assert share > SHARE
    assert len({call.system for call in asked}) == 1
    assert len({json.dumps(call.body["tools"]) for call in asked}) == 1
    assert any("From your memory" in call.context for call in asked), "although other things are recalled"


async def test_prompts_begin_alike_while_agents_cards_and_notices_come_and_go(
    person: Talking, record_property: Callable[[str, object], None]
) -> None:
    asked = await talk_with(person, "waiting")
    count = person.store.one
    assert await count("select count(*) from tasks") == 2, "what was planned and approved"
    assert await count("select count(*) from pool_entries where status ilike 'waiting%'") == 0, (
        "the flights were dropped"
    )
    assert await count("select count(*) from approvals where state = 'approved' and decided_how = 'words'") == 2
    assert await count("select count(*) from history where message ->> 'text' like 'The parcel%'") == 7
    assert any(WAIT in call.context for call in asked)
    offered = list(dict.fromkeys(tuple(call.tools) for call in asked))
    assert len(offered) == 5, "two groups, and what is offered while something waits, come once, and stay"
    assert all(now[: len(before)] == before for before, now in pairwise(offered))
    share = cached_share(asked)
    record_property("share", share)
    assert share > SHARE


async def test_history_is_cut_in_steps_so_that_prompts_still_begin_alike(person: Talking) -> None:
    await person.say("hello there, it is me")
    await person.store.admin.execute(
        "insert into history (tenant_id, conversation_id, position, session, turn_id, message)"
        " select h.tenant_id, h.conversation_id, 100 + n, h.session, h.turn_id, jsonb_set(h.message, '{text}',"
        " to_jsonb('message ' || n)) from history h, generate_series(1, 150) n where h.position = 1 + n % 2"
    )
    await person.store.db.conversations.change({"history_seq": 250})
    starts: list[str] = []
    for number in range(20):
        await person.say(f"and what about {number}")
        starts.append(str(person.model.calls[-1].messages[1]["content"]))
    assert len(set(starts)) == 1
    assert cached_share(person.model.calls[1:]) > SHARE
