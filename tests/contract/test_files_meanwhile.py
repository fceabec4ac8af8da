"""A file that arrives while a turn runs: it joins the turn, waits for the next, or ends it, as the person likes it."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.llm.types import ChatMessage, Marker, ModelAnswer, ModelRequest, Role
from core.people.tenant import WhileRunning
from core.tools.tool import AnyTool, tool
from tests.contract.canaries import marked
from tests.contract.person_files import Sender, open_sender
from tests.core.builders import FakeModel, Step, says, wants

LEASE = b"The rent is nine hundred."


@pytest.fixture
async def sender(database_url: str, tmp_path: Path) -> AsyncIterator[Sender]:
    async with open_sender("telegram", database_url, tmp_path / "files") as opened:
        yield opened


def errand(sender: Sender, *, caption: str = "") -> AnyTool:
    """Make a tool during which the person sends a file, the first time."""
    sent = False

    @tool(effect="read")
    async def run_errand() -> str:
        """Run an errand."""
        nonlocal sent
        if not sent:
            sent = True
            channel, data = sender.system.delivery.channel, base64.b64encode(LEASE).decode()
            await channel.act("document", data=data, name="lease.txt", content_type="text/plain", caption=caption)
            await channel.settled()
        return "run"

    return run_errand


def told(request: ModelRequest) -> list[str]:
    """Return what the person said in a request, a file by the first words of its text."""
    said = [one for one in request.messages if one.role is Role.USER and one.marker is not Marker.CONTEXT]
    return [_short(message) for message in said]


def _short(message: ChatMessage) -> str:
    return "the lease" if "> The rent is nine hundred." in message.text else message.text.partition(":")[0]


async def runs(sender: Sender, mode: WhileRunning, *script: Step, caption: str = "") -> tuple[str, FakeModel]:
    """Let the person ask, and send a file while they are answered; return what they read."""
    channel = sender.system.delivery.channel
    await channel.said(marked("Weather?"))
    await sender.system.delivery.store.db.tenants.change({"while_running": mode.value})
    sender.system.more.append(errand(sender, caption=caption))
    read = await sender.works(wants(("run_errand", {})), *script)
    return read, sender.system.model


async def fates(sender: Sender) -> list[tuple[object, ...]]:
    """Return how the turns ended."""
    rows = await sender.system.delivery.store.admin.fetch("select state, reason from turns order by started_at")
    return [tuple(row) for row in rows]


async def test_a_file_joins_the_running_turn(sender: Sender) -> None:
    read, model = await runs(sender, WhileRunning.STEER, says("Sun; and the rent is 900."), caption=marked("Rent?"))
    assert read == "Sun; and the rent is 900."
    assert told(model.requests[0])[-1:] == [marked("Weather?")]
    assert told(model.requests[1])[-2:] == [marked("Rent?"), "the lease"]
    assert await fates(sender) == [("done", "")]


async def test_a_queued_file_waits_for_the_next_turn(sender: Sender) -> None:
    read, model = await runs(sender, WhileRunning.QUEUE, says("Sun."), says("900."))
    assert read == "Sun.\n900."
    assert "the lease" not in told(model.requests[1])
    assert told(model.requests[2])[-1] == "the lease"
    assert await fates(sender) == [("done", ""), ("done", "")]


async def test_an_interrupting_file_ends_the_turn_and_is_read_in_the_next(sender: Sender) -> None:
    read, model = await runs(sender, WhileRunning.INTERRUPT, says("Sun, and 900."))
    assert read == "Sun, and 900."
    assert told(model.requests[1])[-1] == "the lease"
    assert marked("Weather?") in told(model.requests[1])
    assert [state for state, _ in await fates(sender)] == ["interrupted", "done"]


async def test_a_file_that_joined_is_not_fetched_again_when_the_turn_resumes(sender: Sender) -> None:
    """The worker dies after the file joined; the next one reads the journal and the stored file."""
    journal = sender.system.delivery.channel.simulator.wire.journal

    asked = asyncio.Event()

    async def hang(_: ModelRequest) -> ModelAnswer:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    running = asyncio.create_task(runs(sender, WhileRunning.STEER, hang))
    await asked.wait()
    running.cancel()
    await asyncio.wait([running])
    await sender.system.delivery.store.admin.execute(
        "update lanes set lease_until = clock_timestamp(), not_before = null"
    )
    assert await sender.works(says("Sun, and 900.")) == "Sun, and 900."
    assert told(sender.system.model.requests[0])[-1] == "the lease"
    assert [call.endpoint for call in journal.calls(provider="telegram")].count("telegram.file") == 1
