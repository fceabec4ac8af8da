"""People get all that is kept of them, and are forgotten, in a chat: only after a card of high risk."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.data import export_my_data, forget_me
from core.files.blobs import FolderStore
from core.files.store import FileStore
from core.llm.types import ModelAnswer, ModelRequest
from core.tenants.access import PersonData
from core.tenants.deletion import GRACE, Deletion
from core.tenants.links import ExportLinks
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says

LINK = re.compile(r"https://valet\.example/export/([\w-]{43})")


@pytest.fixture
async def system(channel: str, database_url: str, tmp_path: Path) -> AsyncIterator[Approving]:
    """Yield a worker whose people may be exported and deleted."""
    clock = StandingClock()
    async with open_approving(HARNESSES[channel], database_url, clock) as system:
        system.more = [export_my_data, forget_me]
        system.options = {"data": data_of(system, tmp_path)}
        yield system


def data_of(system: Approving, folder: Path) -> PersonData:
    """Return all people's data."""
    database = system.delivery.store.database
    deletion = Deletion(database, FileStore(database, FolderStore(folder)), system.clock)
    return PersonData(ExportLinks(database, "https://valet.example"), deletion, system.clock)


async def agree(system: Approving) -> None:
    """Approve as high risk wants it: by a press, or by the number that is sent after the code."""
    assert "high risk" in system.card().text
    if system.delivery.channel.has_buttons:
        await system.press("Approve")
        await system.work()
        return
    code = await system.code()
    await system.say(f"OK {code}")
    number = re.search(rf"OK {code} (\d{{6}})", system.last())
    assert number
    await system.say(f"OK {code} {number[1]}")


def repeats(request: ModelRequest) -> ModelAnswer:
    """Say what the tool said, as models do."""
    return says(request.messages[-1].text)


async def test_people_get_their_data_and_are_forgotten_by_high_risk(system: Approving, tmp_path: Path) -> None:
    store, data = system.delivery.store, data_of(system, tmp_path)
    system.model = FakeModel([repeats])
    await system.say("Exporta mis datos")
    assert await store.one("select count(*) from export_links") == 0
    await agree(system)
    link = LINK.search(system.last())
    assert link is not None, system.last()
    assert await data.links.find(link[1], system.clock.now())
    # To be forgotten is asked for in the same way, and may be thought over.
    await system.say("forget me")
    await system.decide("Cancel")
    assert await store.one("select count(*) from deletions") == 0
    system.model = FakeModel([repeats])
    await system.say("forget me!")
    await agree(system)
    assert "In a few minutes I will have forgotten you" in system.last()
    assert await data.deletion.once() is None
    system.clock.move(GRACE)
    assert await data.deletion.once() is not None
    assert await store.one("select count(*) from tenants") == 0
    system.model = FakeModel([says("Nice to meet you.")])
    await system.say("hello")
    assert system.last() == "Nice to meet you."
    assert await store.one("select count(*) from inbound") == 1
