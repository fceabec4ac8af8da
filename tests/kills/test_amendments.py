"""Promises 5 and 6: a worker is killed while a person changes what they wrote, and another one finishes it."""

import signal
from pathlib import Path
from typing import Any, cast

import pytest

from tests.eventually import eventually
from tests.forker import Forker
from tests.kills.harness import HOLD, RELEASE, System, made_marks, open_system
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from workbench.simulator.config import Person

DEAD, JOINED, AFTER = (
    Person(f"e{n:02}", f"Person {n}", f"+1555050{n:04}", f"U0E{n:07}", 630_000_000 + n) for n in range(3)
)
"""Who edits while no worker is at their turn, who while one is, and who after their turn."""


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promises_5_and_6_edits_survive_the_workers_that_take_them_in(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    sent: dict[str, int] = {}

    async def reply(call: ModelCall) -> Reply:
        turn = call.last_user.split()[0]
        if call.tool_results or "once more" in call.last_user:
            return text(f"{turn} is done: {call.last_user}")
        if turn == JOINED.key:
            await system.on_telegram(JOINED, "edit", message_id=sent[turn], text=f"{turn} changed")
        return calls(("mark", {"turn": turn, "number": 0}))

    model = ScriptedModel(reply)
    people = [DEAD, JOINED, AFTER]
    async with open_system(tmp_path, database_url, redis_url, people, model, forker, telegram=True) as system:
        sent[DEAD.key] = await system.on_telegram(DEAD, "say", text=f"{DEAD.key} 0.1")
        await killed(system, DEAD)
        await system.on_telegram(DEAD, "edit", message_id=sent[DEAD.key], text=f"{DEAD.key} changed")
        # Right behind the record that says what was taken in.
        sent[JOINED.key] = await system.on_telegram(JOINED, "say", text=f"{JOINED.key} 1.-1")
        await killed(system, JOINED)
        sent[AFTER.key] = await system.on_telegram(AFTER, "say", text=f"{AFTER.key} never")
        worker = system.fork_worker("worker", KILLS_ONLY=AFTER.key)
        await eventually(lambda: len(answers(system, AFTER)) == 1, "the first answer")
        await system.end(worker)
        await system.on_telegram(AFTER, "edit", message_id=sent[AFTER.key], text=f"{AFTER.key} begun once more")
        (tmp_path / f"plan-{AFTER.key}").write_text("begun\n")
        await killed(system, AFTER)
        await system.admin.execute(RELEASE)
        await system.finish(4)
        said = {person.key: answers(system, person) for person in people}
    assert said[DEAD.key] == [f"{DEAD.key} is done: {DEAD.key} changed"]
    assert said[JOINED.key] == [f"{JOINED.key} is done: {JOINED.key} changed"]
    assert [words.endswith("once more") for words in said[AFTER.key]] == [False, True]
    assert "You changed" in said[AFTER.key][1]
    assert [made_marks(tmp_path, person.key) for person in people] == [{0: 1}, {0: 1}, {0: 1}]


async def killed(system: System, person: Person) -> None:
    """Let a worker take a person's turn and die of it, and keep its lease."""
    victim = system.fork_worker("victim", KILLS_ONLY=person.key)
    assert await victim.wait() == -signal.SIGKILL, (system.folder / "victim.log").read_text()[-3000:]
    await system.admin.execute(HOLD)


def answers(system: System, person: Person) -> list[str]:
    """Return what a person got on Telegram."""
    people = cast(dict[str, Any], system.simulator.providers["telegram"].state())["people"]
    return [bubble["text"] for bubble in people[person.key]["messages"] if bubble["direction"] == "out"]
