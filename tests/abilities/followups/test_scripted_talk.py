"""A scripted talk with a worker as it ships: memory's reading brings what is ahead, nothing else asks a model."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from abilities.followups.ability import ABILITY
from core.clock import set_clock
from core.messaging.messages import Command
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.abilities.memory.talking import Talking, talking
from tests.scripted_model import ModelCall, Reply, text

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("typeagent")]
READS = "You read what a person and their assistant said"
TOLD = "I have an interview the day after tomorrow at 3"


@dataclass(slots=True)
class Days:
    """A person who talks, and whose days are moved on."""

    person: Talking
    file: Path

    async def pass_to(self, moment: datetime) -> list[str]:
        """Move the clock to a moment, do a worker's periodic work there, and return what the person is sent then."""
        set_clock(self.file, offset=(moment - datetime.now(UTC)).total_seconds())
        known = await self.sent()
        await self.work()
        return (await self.sent())[len(known) :]

    async def work(self) -> None:
        """Propose, and release the digest."""
        assert ABILITY.work is not None
        async with AsyncExitStack() as stack:
            for part in ABILITY.work(stack, self.person.parts.foundation):
                await part.once()  # type: ignore[union-attr]
        # Of a person who writes by SMS, which this worker's settings have not turned on.
        store, clock = self.person.store, self.person.parts.clock
        notes = NotificationStore(store.database, store.make_id)
        await NotificationService(notes, ["sms"], store.wakeups, clock, store.make_id).release_held()

    async def sent(self) -> list[str]:
        """Return all that the person was sent."""
        found = await self.person.store.column("select text from outbound order by created_at, seq")
        return [str(one) for one in found]


@pytest.fixture
async def days(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Days]:
    """Yield a person who tells of an interview, and whom memory has read."""
    file = tmp_path / "clock.json"
    set_clock(file)
    async with talking(database_url, redis_url, tmp_path, monkeypatch, answer, onevalet_clock=file) as person:
        await person.say(TOLD)
        await person.remember()
        await person.be_quiet()
        await person.read()
        yield Days(person, file)


async def test_a_talk_leads_to_one_proposal_and_no_model_call_by_itself(days: Days) -> None:
    assert await days.person.store.db.memories.one("happens_at", kind="told") == interview()
    calls = len(days.person.model.calls)
    assert calls == 2, "the answer and memory's reading"
    now = datetime.now(UTC)
    digest = datetime.combine(now.date(), time(8), UTC) + timedelta(days=int(now.hour >= 8))
    moment = now.replace(minute=59)
    while (moment := moment + timedelta(hours=1)) < digest:
        assert await days.pass_to(moment) == [], "it is night"
    [proposed] = await days.pass_to(digest + timedelta(minutes=1))
    assert f"You said: “{TOLD}”." in proposed
    assert await days.pass_to(digest + timedelta(hours=6)) == []
    assert len(days.person.model.calls) == calls
    kept = await days.person.say("followups yes 1", command=Command("followups", "yes 1"))
    assert "I will ask you on" in kept
    assert "Undone: I will not ask how it went." in await days.person.say("undo", command=Command("undo", ""))
    assert await days.person.store.one("select count(*) from tasks where deleted_at is null") == 0
    assert await days.person.store.db.followups.one("state") == "over"
    assert len(days.person.model.calls) == calls


async def test_words_of_others_lead_to_no_proposal(days: Days) -> None:
    await days.person.say("Bob wrote this to me, how nice of him:\n> My interview is on Friday at nine, wish me luck")
    await days.person.remember()
    await days.person.be_quiet()
    await days.person.read()
    quoted = await days.person.store.column("select happens_at from memories where text like '%Friday%'")
    assert quoted == [None]


def interview() -> datetime:
    """Return when it is."""
    return datetime.combine(datetime.now(UTC).date() + timedelta(days=2), time(15), UTC)


def answer(call: ModelCall) -> Reply:
    """Answer plainly, and read a talk as a model would."""
    if not call.system.startswith(READS):
        return text("Good luck!")
    material = json.loads(call.last_user.removeprefix("<material>\n").removesuffix("\n</material>"))
    read = [
        {
            "number": statement["number"],
            "entities": [{"name": "interview", "type": ["event"]}],
            "actions": [],
            "topics": ["work"],
            "replaces": [],
            "repeats": 0,
            "happens": f"{interview():%Y-%m-%dT%H:%M}" if "interview" in statement["text"] else "",
        }
        for statement in material["statements"]
    ]
    return text(json.dumps({"statements": read, "changes": []}))
