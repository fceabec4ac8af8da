"""A worker is killed at each step of creating and of moving an event; another one goes on, and it is there once."""

import asyncio
import base64
import os
import signal
from pathlib import Path

import pytest

from core.credentials.secret_keys import read_secret_key
from simulator.config import Person
from tests.core.credentials.harness import store_with
from tests.core.harness import opened
from tests.forker import Forker
from tests.kills.harness import HOLD, RELEASE, System, open_system
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from tests.servers.radicale import USERS, Radicale

PLANS = ("begun", "0.0", "started -1.1", "writing", "written", "-1.1", "0.1", "1.0")
MOVES = ("started -1.1", "writing", "written", "-1.1")
SECRET = base64.b64encode(bytes(32)).decode()
OLD = """BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//test//EN\r
BEGIN:VEVENT\r
UID:{0}\r
DTSTAMP:20261101T000000Z\r
DTSTART;TZID=Europe/Berlin:{1}T100000\r
DTEND;TZID=Europe/Berlin:{1}T110000\r
SUMMARY:meeting {0}\r
END:VEVENT\r
END:VCALENDAR\r
"""
SOON = "20310505"


def keep(call: ModelCall) -> Reply:
    """Have an event created or moved, then answer."""
    turn = call.last_user.split()[0]
    if call.tool_results:
        return text("it is in the calendar")
    if turn.startswith("m"):
        return calls(("change_event", {"event": f"meeting {turn}", "day": "2031-05-05", "start": "2031-05-06"}))
    return calls(("create_event", {"title": f"meeting {turn}", "start": "2031-05-05T10:00"}))


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_an_event_is_written_once_under_kills(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker, radicale: Radicale
) -> None:
    plans = [("k", plan) for plan in PLANS] + [("m", plan) for plan in MOVES]
    people = {
        Person(f"{kind}{n:02}", f"Person {n}", f"+1555070{n:04}", f"U0C{n:07}", 650_000_000 + n): plan
        for n, (kind, plan) in enumerate(plans)
    }
    calendar = radicale.make_calendar("ann", "Home")
    async with open_system(tmp_path, database_url, redis_url, [*people], ScriptedModel(keep), forker) as system:
        system.environment |= {
            "ONEVALET_PLUGINS": "tests.plugins.kills_calendar,agents.calendar",
            "ONEVALET_FETCH_HOSTS": radicale.host,
            "KILLS_MUTATION": os.environ.get("KILLS_MUTATION", ""),
        }
        for person, plan in people.items():
            if person.key.startswith("m"):
                radicale.put("ann", f"{calendar}{person.key}.ics", OLD.format(person.key, SOON))
            await system.say(person, f"{person.key} {plan}")
            await connect(system, database_url, person, radicale)
            victim = system.fork_worker("victim", KILLS_ONLY=person.key)
            ended = await victim.wait()
            assert ended == -signal.SIGKILL, (plan, ended, (tmp_path / "victim.log").read_text()[-3000:])
            await system.admin.execute(HOLD)
        await system.admin.execute(RELEASE)
        await system.finish(len(people))
        answers = {person.key: system.answers(person) for person in people}
    assert answers == {person.key: ("it is in the calendar",) for person in people}
    stored = await asyncio.to_thread(radicale.texts, calendar)
    begins = {"k": "20310505T100000", "m": "20310506T100000"}
    for person in people:
        own = [event for event in stored if f"SUMMARY:meeting {person.key}\r" in event]
        assert len(own) == 1, person.key
        assert f"DTSTART;TZID=Europe/Berlin:{begins[person.key[0]]}" in own[0], person.key


async def connect(system: System, database_url: str, person: Person, radicale: Radicale) -> None:
    """Store a person's account, as they would have connected it before."""
    query = "select tenant_id from identities where user_key = $1"
    tenant = str(await system.admin.fetchval(query, person.phone))
    await system.admin.execute("update tenants set timezone = 'Europe/Berlin' where tenant_id = $1", tenant)
    async with opened(database_url) as store:
        credentials = store_with(store.database, read_secret_key(SECRET))
        kept = {"user": "ann", "password": USERS["ann"], "caldav": radicale.url}
        await credentials.save(tenant, "caldav", dict(kept))
