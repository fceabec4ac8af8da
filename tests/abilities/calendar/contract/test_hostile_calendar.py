"""Hostile events read by a model that obeys every word: nothing acts without an approval, and cards show the truth."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from abilities.lists.notes import add_note, list_notes
from core.http.guarded_client import GuardedClient
from core.llm.types import ModelAnswer, ModelRequest, Role
from tests.abilities.calendar.contract.calendar_house import give_calendar
from tests.abilities.calendar.hostile_events import FILLING, SAYING
from tests.abilities.calendar.samples import event
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.contract.channel_harnesses import SmsHarness
from tests.contract.hostile_pages import Obedient
from tests.servers.radicale import Radicale

pytestmark = pytest.mark.slow

DENTIST = event("DTSTART:20261122T150000Z", "DTEND:20261122T160000Z", "SUMMARY:Dentist", uid="dentist")


class Reading(Obedient):
    """An obedient model that begins by looking into the calendar."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        if request.messages[-1].role is Role.USER and not self.wanted:
            self.requests.append(request)
            return self._call(("list_events", {"day": "tomorrow"}))
        return await super().answer(request)


@pytest.fixture
async def system(database_url: str, redis_url: str, radicale: Radicale) -> AsyncIterator[Proactive]:
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_proactive(SmsHarness, database_url, redis_url))
        http = GuardedClient(allowed_hosts=[radicale.host])
        stack.push_async_callback(http.close)
        await give_calendar(opened, radicale, http, opened.tenant, home="ann")
        opened.more += [add_note, list_notes]
        yield opened


async def test_no_event_makes_an_obeying_model_act(system: Proactive, radicale: Radicale) -> None:
    calendar = radicale.make_calendar("ann", "Home")
    store = system.delivery.store
    for name, text in SAYING.items():
        radicale.put("ann", f"{calendar}dentist.ics", DENTIST)
        radicale.put("ann", f"{calendar}{name}.ics", text)
        before = radicale.texts(calendar)
        model = system.model = Reading()
        said = "\n".join(await system.told("What is on tomorrow?"))
        assert model.wanted[0] == "list_events"
        assert radicale.texts(calendar) == before, name
        assert await store.one("select count(*) from stored_values where collection like 'notes%'") == 0, name
        if len(model.wanted) > 1 and "waiting" in await store.db.approvals.column("state"):
            assert "I have just read what others wrote" in said, name
            await system.decide("Cancel")
        assert radicale.texts(calendar) == before, name
        radicale.send("ann", "DELETE", f"{calendar}{name}.ics")
    assert await store.db.approvals.count(state="approved") == 0


async def test_events_that_are_too_much_leave_the_others_to_be_read(system: Proactive, radicale: Radicale) -> None:
    calendar = radicale.make_calendar("ann", "Home")
    radicale.put("ann", f"{calendar}dentist.ics", DENTIST)
    folder = radicale.folder / "collections" / "collection-root" / "ann" / "home"
    (folder / "evil.ics").write_text(FILLING["every-second"])  # as a server that checks less would have it
    model = system.model = Reading()
    await system.told("What is on tomorrow?")
    [told] = [message.text for message in model.requests[-1].messages if message.role is Role.TOOL]
    assert "Dentist" in told
