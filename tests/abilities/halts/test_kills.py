"""Twenty turns, due tasks and deliveries under HALT ALL, with kills: no effect until it is lifted, then each once."""

import re
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from abilities.halts.sentences import SENTENCES
from tests.eventually import eventually
from tests.forker import Forker
from tests.kills.harness import System, made_marks, open_system
from tests.kills.test_outages import add_task
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, hang, text
from workbench.simulator.config import Person

TURNS = [f"w{number:02}" for number in range(20)]
TASKS = ["w20", "w21", "w22"]
OWED = ["owed one", "owed two", "owed three"]
AT_ONCE = 16
"""Turns that a worker runs at a time; the others wait."""


@dataclass(slots=True)
class Away:
    """A model that lets each turn act once, and hangs over what comes after it until it is well."""

    well: bool = False

    def __call__(self, call: ModelCall) -> Reply:
        turn = re.findall(r"w\d\d", " ".join(call.new_user_texts) or call.last_user)[-1]
        if not call.tool_results:
            return calls(("mark", {"turn": turn, "number": 0}))
        if len(call.tool_results) == 1:
            return calls(("mark", {"turn": turn, "number": 1})) if self.well else hang(600)
        return text(f"{turn} is done")


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_halted_work_has_no_effect_until_it_is_lifted_then_once(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    people = [Person(f"h{n:02}", f"Person {n}", f"+1555041{n:04}", f"U0H{n:07}", 630_000_000 + n) for n in range(23)]
    owner, first, second = people[20], people[21], people[22]
    model = ScriptedModel(away := Away())
    async with open_system(tmp_path, database_url, redis_url, people, model, forker) as system:
        await system.say(owner, "hello w99")
        for person, turn in zip(people, TURNS, strict=False):
            await system.say(person, turn)
        await system.admin.execute(
            "update tenants t set role = 'owner' from identities i where i.tenant_id = t.tenant_id and i.user_key = $1",
            owner.phone,
        )
        victim = system.fork_worker("victim")
        await eventually(lambda: _hang_in_their_model(model), "turns in the middle of a call")

        await system.say(owner, "HALT ALL")
        await eventually(lambda: _last(system, owner).startswith("All work is stopped"), "the answer with the code")
        for turn in TASKS:
            await add_task(system, database_url, turn)
        await owe(system, people[0])
        await eventually(lambda: _none_runs(system), "turns that were handed back")
        effects = (tmp_path / "effects").read_text()
        answered = {person.key: system.answers(person) for person in people[:20]}
        asked = len(model.calls)

        victim.send_signal(signal.SIGKILL)
        await victim.wait()
        away.well = True
        for name, witness in (("restarted", first), ("again", second)):
            worker = system.fork_worker(name)
            # What is said now is told to its sender, by the worker that would have begun the rest just as well.
            await system.say(witness, f"are you there? w{people.index(witness) + 9}")
            await eventually(partial(_was_told, system, witness), "the sentence")
            worker.send_signal(signal.SIGKILL)
            await worker.wait()
        assert (tmp_path / "effects").read_text() == effects
        assert len(model.calls) == asked
        assert {person.key: system.answers(person) for person in people[:20]} == answered
        states = await system.admin.fetch("select distinct state from tasks")
        assert [row["state"] for row in states] == ["ACTIVE"]

        [code] = re.findall(r"LIFT (\d{6})", _last(system, owner))
        await system.say(owner, f"LIFT {code}")
        sent = await system.admin.fetchval("select count(*) from outbound where state = 'sent'")
        # The turns, the two witnesses' and the owner's, the tasks' reports, what was owed, and the answer to LIFT.
        await system.finish(sent + len(TURNS) + 3 + len(TASKS) + len(OWED) + 1)
        said = [answer for person in people for answer in system.answers(person)]
    marks = {turn: made_marks(tmp_path, turn) for turn in (*TURNS, *TASKS)}
    assert marks == {turn: {0: 1, 1: 1} for turn in (*TURNS, *TASKS)}
    everything = " ".join(said)
    assert {turn: everything.count(f"{turn} is done") for turn in (*TURNS, *TASKS)} == dict.fromkeys(
        (*TURNS, *TASKS), 1
    )
    assert {words: said.count(words) for words in OWED} == dict.fromkeys(OWED, 1)
    assert said.count(SENTENCES["told"]) == 2


async def owe(system: System, person: Person) -> None:
    """Queue messages for a person, as a turn that has just ended does."""
    row = await system.admin.fetchrow("select tenant_id, id from conversations where peer = $1", person.phone)
    assert row is not None
    for number, words in enumerate(OWED):
        await system.admin.execute(
            "select enqueue($1, $2, null, jsonb_build_array(jsonb_build_object("
            "'id', $3::text, 'kind', 'reply', 'text', $4::text)))",
            row["tenant_id"],
            row["id"],
            f"out_owed_{number}",
            words,
        )


def _hang_in_their_model(model: ScriptedModel) -> bool:
    """Return whether as many turns as run at once have acted and wait for their model."""
    return sum(len(call.tool_results) == 1 for call in model.calls) == AT_ONCE


async def _none_runs(system: System) -> bool:
    """Return whether no turn is leased any more."""
    return not await system.admin.fetchval("select count(*) from lanes where owner is not null")


def _was_told(system: System, person: Person) -> bool:
    """Return whether the last that a person got is that all is stopped."""
    return _last(system, person) == SENTENCES["told"]


def _last(system: System, person: Person) -> str:
    """Return what a person got last."""
    return ("", *system.answers(person))[-1]
