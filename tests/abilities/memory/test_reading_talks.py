"""What is said is read by one model call when the person is quiet, and is known everywhere before."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from abilities.memory import talks
from core.budgets.budgeted_model import BudgetedModel
from core.json_types import JsonObject
from core.messaging.messages import Command
from tests.abilities.memory.talking import CHAT, Talking, talking
from tests.eventually import eventually
from tests.scripted_model import ModelCall, Reply, error, text

QUICK = timedelta(milliseconds=300)
READS = "You read what a person and their assistant said"
PLAIN = [f"My friend number {number} is called Friend{number}" for number in range(20)]

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("typeagent")]


@pytest.fixture
async def person(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Talking]:
    """Yield a person who talks with a worker as it ships, but for a small model behind the reply."""
    small = {"onevalet_small_model": "openai/small"}
    async with talking(database_url, redis_url, tmp_path, monkeypatch, answer, **small) as person:
        yield person


async def test_twenty_plain_messages_cost_at_most_a_fifth_of_a_call_more_each(person: Talking) -> None:
    for words in PLAIN:
        await person.say(words)
        await person.remember()
        await person.read()
    await person.be_quiet()
    await person.read()
    calls = person.model.calls
    assert len(calls) <= 1.2 * len(PLAIN)
    behind = [call for call in calls if call.system.startswith(READS)]
    assert {call.body["model"] for call in behind} == {"small"}
    assert {call.body["model"] for call in calls if call not in behind} == {"scripted"}
    assert "assistant: I see." in behind[0].last_user, "both sides are read"
    unread = "select count(*) from memories where kind = 'told' and extractor <> 'model'"
    assert await person.store.one(unread) == 0
    assert await person.store.db.memories.count(kind="told") == len(PLAIN)
    assert await person.store.one("select value from profile_facts where replaced_by is null") == "Friend19"
    assert await person.store.db.profile_jobs.count() == 0


@pytest.mark.parametrize(("level", "kept"), [("rules", 1), ("off", 0)])
async def test_without_a_model_memory_costs_no_call_and_infers_no_fact(
    level: str, kept: int, database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(database_url, redis_url, tmp_path, monkeypatch, answer, onevalet_memory=level) as person:
        await person.say(PLAIN[0])
        await person.remember()
        await person.be_quiet()
        await person.read()
        assert len(person.model.calls) == 1, "the answer's alone"
        assert await person.store.one("select count(*) from memories where kind = 'told'") == kept
        assert await person.store.one("select count(*) from profile_facts") == 0


async def test_greetings_and_commands_cost_no_call_behind_the_reply(person: Talking) -> None:
    for words in ("Hello there", "Thanks a lot", "Good morning", "What is the time in Lisbon?"):
        await person.say(words)
        await person.remember()
    await person.say("/memory", command=Command("memory", ""))
    await person.be_quiet()
    await person.read()
    assert len(person.model.calls) == 4
    assert await person.store.db.profile_jobs.count() == 0


async def test_what_a_model_reads_ends_what_it_contradicts_and_junk_is_held_back(person: Talking) -> None:
    for words in ("I keep the boat at the old pier.", "I keep the boat at the new pier.", "asdkjh qwe zxc vbn"):
        await person.say(words)
        await person.remember()
    listed = await person.say("/memory", command=Command("memory", ""))
    assert "new pier" in listed, "known before it is read"
    await person.be_quiet()
    await person.read()
    listed = await person.say("/memory", command=Command("memory", ""))
    assert "new pier" in listed
    assert "old pier" not in listed
    assert "asdkjh" not in listed


async def test_what_was_told_is_known_on_another_channel_before_it_is_read(person: Talking) -> None:
    await person.say("Hello, it is me", CHAT)
    await person.say("Hello, it is me")
    await person.link()
    await person.say("The spare key lies beneath the blue pot.")
    await person.remember()
    assert "blue pot" in await person.say("/memory", CHAT, Command("memory", ""))
    await person.say("How do I get in?", CHAT)
    assert "The spare key lies beneath the blue pot." in person.model.calls[-1].context
    await person.say("How do I get in?")
    assert "blue pot" not in person.model.calls[-1].context, "here it stands in the history"
    assert "blue pot" in json.dumps(person.model.calls[-1].messages)
    assert not any(call.system.startswith(READS) for call in person.model.calls)


async def test_promise_5_a_restart_in_the_middle_of_reading_loses_nothing(person: Talking) -> None:
    await person.say("The spare key lies beneath the blue pot.")
    await person.remember()
    await person.be_quiet()
    dead = await person.store.database.rows("select * from claim_talk('dead', '1 minute', 9, '1 minute', 10)")
    assert len(dead) == 1
    await person.say("The bicycle stands behind the shed.")
    await person.remember()
    await person.be_quiet()
    await person.read()
    assert read_by(person) == [], "another worker has this person's talk, as far as anybody knows"
    await person.store.admin.execute("update profile_jobs set lease_until = now() - interval '1 second'")
    await person.read()
    await person.be_quiet()
    await person.read()
    assert read_by(person) == [["The spare key lies beneath the blue pot.", "The bicycle stands behind the shed."]]
    assert await person.store.db.memories.count(extractor="model") == 2


async def test_a_talk_whose_workers_died_again_and_again_is_left_for_later(person: Talking) -> None:
    await person.say("The spare key lies beneath the blue pot.")
    await person.remember()
    await person.store.admin.execute("update profile_jobs set attempts = 3, lease_until = now() - interval '1 second'")
    await person.read()
    assert read_by(person) == []
    assert await person.store.db.profile_jobs.count() == 0
    assert await person.store.db.memories.one("held", kind="told") is True


async def test_a_worker_that_lost_the_lease_of_a_talk_stores_nothing(person: Talking) -> None:
    await person.say("The spare key lies beneath the blue pot.")
    await person.remember()
    await person.be_quiet()
    job = await person.talks.claim()
    assert job is not None
    await person.store.db.profile_jobs.change({"owner": "another"})
    await person.talks.run(job)
    assert await person.store.db.memories.count(extractor="model") == 0
    assert await person.store.db.profile_jobs.count(owner="another") == 1


async def begun(person: Talking, monkeypatch: pytest.MonkeyPatch) -> tuple["Held", asyncio.Task[None], datetime]:
    """Leave a talk in the middle of its call, under a short lease; return the lease's end."""
    monkeypatch.setattr(talks, "LEASE", QUICK)
    await person.say("The spare key lies beneath the blue pot.")
    await person.remember()
    await person.be_quiet()
    model = Held(person.talks.model)
    reader = replace(person.talks, model=model)  # type: ignore[arg-type]
    job = await reader.claim()
    assert job is not None
    doing = asyncio.create_task(reader.run(job))
    await model.begun.wait()
    ends = await person.store.db.profile_jobs.one("lease_until")
    assert isinstance(ends, datetime)
    return model, doing, ends


class Held:
    """A model that answers when it may."""

    def __init__(self, model: BudgetedModel) -> None:
        self.model = model
        self.begun, self.may = asyncio.Event(), asyncio.Event()

    async def ask(self, *arguments: Any) -> Any:
        self.begun.set()
        await self.may.wait()
        return await self.model.ask(*arguments)


async def test_a_talk_is_kept_for_as_long_as_its_call_takes(person: Talking, monkeypatch: pytest.MonkeyPatch) -> None:
    model, doing, first = await begun(person, monkeypatch)

    async def is_renewed() -> bool:
        ends = await person.store.db.profile_jobs.one("lease_until")
        return isinstance(ends, datetime) and ends > first + QUICK

    await eventually(is_renewed, "a lease longer than two leases")
    assert await person.talks.claim() is None
    model.may.set()
    await doing
    assert await person.store.db.profile_jobs.count() == 0
    assert await person.store.db.memories.count(extractor="model") == 1


async def test_a_talk_that_another_worker_has_taken_is_let_go_in_its_call(
    person: Talking, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, doing, _ = await begun(person, monkeypatch)
    await person.store.db.profile_jobs.change({"owner": "another"})
    await doing
    assert await person.store.db.profile_jobs.count(owner="another") == 1
    assert await person.store.db.memories.count(extractor="model") == 0


async def test_what_was_left_unread_stands_once_the_settings_name_no_model(person: Talking) -> None:
    for words in ("I live in Graz.", "I live in Lisbon."):
        await person.say(words)
        await person.remember()
    assert await person.store.one("select count(*) from memories where valid_to is null") == 2
    await person.be_quiet()
    assert person.talks.memory is not None
    rules = replace(person.talks, memory=replace(person.talks.memory, by_model=False), profile=None)
    await rules.drain()
    assert read_by(person) == []
    assert await person.store.db.memories.count(extractor="rules, until read") == 0
    assert await person.store.one("select text from memories where valid_to is null") == "I live in Lisbon."


async def test_a_statement_taken_back_before_it_is_read_ends_nothing(person: Talking) -> None:
    for words in ("I keep the boat at the old pier.", "I keep the boat at the new pier."):
        await person.say(words)
        await person.remember()
    await person.store.admin.execute("update memories set valid_to = now() where text like '%new pier%'")
    await person.be_quiet()
    await person.read()
    assert (
        await person.store.one("select text from memories where valid_to is null") == "I keep the boat at the old pier."
    )


async def test_a_model_that_stays_away_leaves_what_was_told_for_later(person: Talking) -> None:
    person.model.script = lambda call: error(500) if call.system.startswith(READS) else answer(call)
    await person.say("The spare key lies beneath the blue pot.")
    await person.remember()
    for _ in range(3):
        await person.be_quiet()
        await person.read()
    assert await person.store.db.profile_jobs.count() == 0
    assert await person.store.db.memories.one("held", kind="told") is True
    assert await person.store.db.memory_jobs.count(id="reading") == 1


def read_by(person: Talking) -> list[list[str]]:
    """Return the statements of each request that read a talk."""
    asked = [call for call in person.model.calls if call.system.startswith(READS)]
    return [[statement["text"] for statement in material(call)["statements"]] for call in asked]  # type: ignore[index, union-attr, call-overload, misc]


def material(call: ModelCall) -> JsonObject:
    read: JsonObject = json.loads(call.last_user.removeprefix("<material>\n").removesuffix("\n</material>"))
    return read


def answer(call: ModelCall) -> Reply:
    """Answer plainly, and read a talk as a model would."""
    if not call.system.startswith(READS):
        return text("I see.")
    material = json.loads(call.last_user.removeprefix("<material>\n").removesuffix("\n</material>"))
    statements: list[JsonObject] = []
    for statement in material.get("statements", []):
        junk = "zxc" in statement["text"]
        boats = [each["number"] for each in (*material["earlier"], *material["statements"]) if "boat" in each["text"]]
        before = [number for number in boats if number < statement["number"]]
        statements.append(
            {
                "number": statement["number"],
                "entities": [] if junk else [{"name": statement["text"][:20], "type": ["thing"]}],
                "actions": [] if junk else [{"verbs": "malformed"}],
                "topics": [],
                "replaces": before if "boat" in statement["text"] else [],
                "repeats": 0,
            }
        )
    friends = [line.rpartition(" ")[2] for line in material["said"] if "Friend" in line]
    changes = [{"key": "friend", "value": friend, "source": "told"} for friend in friends[-1:]]
    return text(json.dumps({"statements": statements, "changes": changes}))
