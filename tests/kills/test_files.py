"""Promise 5: a worker is killed at each point of taking a file in; another one answers once, and keeps it once."""

import base64
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.json_types import Json
from tests.forker import Forker
from tests.kills.harness import HOLD, RELEASE, System, open_system
from tests.scripted_model import ModelCall, Reply, ScriptedModel, text
from workbench.simulator.config import Person
from workbench.simulator.faults import FaultKind, Rule

DOWNLOADS = {
    "begun": 1,
    "fetching": 2,
    "fetched": 2,
    "decoding": 2,
    "storing": 2,
    "stored": 2,
    "recorded": 1,
    "0.0": 1,
}
"""Where the worker dies, and how often the file is downloaded in all: no more than once after it is recorded."""
FETCH = "twilio.media.fetch"


@dataclass(frozen=True, slots=True)
class Fate:
    """The outcome of one file."""

    downloads: int
    model_calls: int
    answers: tuple[str, ...]
    kept: int


def read(call: ModelCall) -> Reply:
    """Say whether the letter was shown."""
    return text("I have read the letter" if "letter of" in str(call.messages) else "there is no letter")


def letter(person: Person) -> Json:
    """Return a file as a phone sends it."""
    data = base64.b64encode(f"the letter of {person.key}".encode()).decode()
    return {"content_type": "text/plain", "data": data}


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_a_file_is_kept_once_under_kills(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    people = {
        plan: Person(f"k{n:02}", f"Person {n}", f"+1555050{n:04}", f"U0F{n:07}", 630_000_000 + n)
        for n, plan in enumerate(DOWNLOADS)
    }
    model = ScriptedModel(read)
    async with open_system(tmp_path, database_url, redis_url, [*people.values()], model, forker) as system:
        sent = {}
        for plan, person in people.items():
            if plan == "fetching":
                system.simulator.wire.faults.add(Rule(FETCH, FaultKind.DRIP, seconds=2))
            sent[plan] = await system.say(person, f"{person.key} {plan}", letter(person))
            victim = system.fork_worker("victim", KILLS_ONLY=person.key)
            ended = await victim.wait()
            assert ended == -signal.SIGKILL, (plan, ended, (tmp_path / "victim.log").read_text()[-3000:])
            await system.admin.execute(HOLD)
        await system.admin.execute(RELEASE)
        await system.finish(len(people))
        fates = {plan: await fate(system, person, sent[plan]) for plan, person in people.items()}
        keys = {row["key"] for row in await system.admin.fetch("select key from files where state = 'kept'")}
    answers = ("I have read the letter",)
    # The answer is written with the end of the turn: before that, it is asked for again.
    assert fates == {plan: Fate(count, 2 if plan == "0.0" else 1, answers, 1) for plan, count in DOWNLOADS.items()}
    folder = tmp_path / "files"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == keys


async def fate(system: System, person: Person, message: str) -> Fate:
    """Return what became of a person's file."""
    fetches = [call for call in system.simulator.wire.journal.calls(provider="twilio") if call.endpoint == FETCH]
    statement = (
        "select count(*) from files f join identities i on i.tenant_id = f.tenant_id"
        " where i.user_key = $1 and f.state = 'kept'"
    )
    return Fate(
        downloads=sum(message in str(call.request) for call in fetches),
        model_calls=sum(f"{person.key} " in str(call.messages) for call in system.model.calls),
        answers=system.answers(person),
        kept=await system.admin.fetchval(statement, person.phone),
    )
