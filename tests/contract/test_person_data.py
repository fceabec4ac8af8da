"""People get all that is kept of them, and are forgotten, in a chat: only after a card of high risk."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agents.data import export_my_data, forget_me
from core.errors import Unavailable
from core.files.blobs import FolderStore
from core.files.store import FileStore
from core.llm.types import ModelAnswer, ModelRequest
from core.messaging.messages import Address
from operations.tenants.access import PersonData
from operations.tenants.copies import CopyEraser, Erased, Erasing
from operations.tenants.deletion import GRACE, AskedBy, Deletion
from operations.tenants.links import ExportLinks
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says
from tests.core.credentials.harness import KEYS

LINK = re.compile(r"https://valet\.example/export/([0-9a-f]{32})")


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
    return PersonData(ExportLinks(database, "https://valet.example", KEYS), deletion, system.clock)


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
    assert await store.db.export_links.count() == 0
    await agree(system)
    link = LINK.search(system.last())
    assert link is not None, system.last()
    assert await data.links.find(link[1], system.clock.now())
    # To be forgotten is asked for in the same way, and may be thought over.
    await system.say("forget me")
    await system.decide("Cancel")
    assert await store.db.deletions.count() == 0
    system.model = FakeModel([repeats])
    await system.say("forget me!")
    await agree(system)
    assert "In a few minutes I will have forgotten you" in system.last()
    assert await data.deletion.once() is None
    system.clock.move(GRACE)
    assert await data.deletion.once() is not None
    assert await store.db.tenants.count() == 0
    system.model = FakeModel([says("Nice to meet you.")])
    await system.say("hello")
    assert system.last() == "Nice to meet you."
    assert await store.db.inbound.count() == 1


async def test_the_providers_copies_go_as_far_as_they_allow(system: Approving, tmp_path: Path) -> None:
    store, data, channel = system.delivery.store, data_of(system, tmp_path), system.delivery.channel
    system.model = FakeModel([says("Nice to meet you."), says("Two.")])
    await system.say("hello")
    await system.say("one")
    await channel.settled()
    [person] = await store.db.tenants.column("tenant_id")
    sender = channel.make_sender()
    assert isinstance(sender, Erasing)
    deletion = replace(data.deletion, eraser=CopyEraser(store.database, {channel.name: sender}))
    await deletion.ask(str(person), AskedBy.OPERATOR, system.clock.now())
    deleted = await deletion.once()
    assert deleted is not None
    written = 2
    expected = Erased(gone=2 + written, left=0) if sender.erases_theirs else Erased(gone=2, left=deleted.copies.left)
    assert deleted.copies == expected
    if channel.name == "sms":  # what was delivered to a phone stays there
        calls = channel.simulator.wire.journal.calls(provider=channel.provider)
        answers = [call.status for call in calls if call.endpoint.endswith("messages.delete")]
        assert answers == [204] * 4
    else:
        assert [bubble.text for bubble in channel.bubbles()] == []
    # What is gone is gone: a worker that does it again finds nothing to complain of.
    address = channel.address()
    assert await sender.erase(address, "SM" + "0" * 32 if channel.name == "sms" else "999999") is True
    await sender.close()


async def test_a_provider_that_is_away_holds_no_deletion_up(
    system: Approving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, data, channel = system.delivery.store, data_of(system, tmp_path), system.delivery.channel
    system.model = FakeModel([says("Nice to meet you.")])
    await system.say("hello")
    [person] = await store.db.tenants.column("tenant_id")

    class Away:
        erases_theirs = True
        erases_within: timedelta | None = None

        async def erase(self, to: Address, provider_id: str) -> bool:
            raise Unavailable("no connection")

    async def no_time(_: float) -> None:
        pass

    monkeypatch.setattr("operations.tenants.copies.asyncio.sleep", no_time)
    deletion = replace(data.deletion, eraser=CopyEraser(store.database, {channel.name: Away()}))
    await deletion.ask(str(person), AskedBy.OPERATOR, system.clock.now())
    deleted = await deletion.once()
    assert deleted is not None
    assert (deleted.copies.gone, deleted.copies.left > 0) == (0, True)
    assert await store.db.tenants.count() == 0
