"""A simulator that stops and starts again: people find their chats as they were, and no id comes twice."""

import asyncio
import base64
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.eventually import eventually, never
from tests.patience import PATIENCE
from tests.workbench.simulator.conftest import FakeGateway
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock
from workbench.simulator.journal import Journal
from workbench.simulator.keeping import Drawer, Keeper

PICTURE = {"name": "cat.png", "content_type": "image/png", "data": base64.b64encode(b"a picture").decode()}


@dataclass
class Said:
    """A provider that knows a text."""

    text: str = "first"
    name: str = "said"

    def save(self, drawer: Drawer) -> bytes:
        return self.text.encode()

    def load(self, kept: bytes, drawer: Drawer) -> None:
        self.text = kept.decode()

    def resume(self) -> None:
        """Nothing was interrupted."""


@pytest.fixture
def config(tmp_path: Path, gateway: FakeGateway) -> SimulatorConfig:
    return SimulatorConfig(gateway_url=gateway.url, pace=0.01, kept_in=tmp_path / "kept")


@asynccontextmanager
async def started(config: SimulatorConfig) -> AsyncIterator[tuple[Simulator, aiohttp.ClientSession]]:
    """Serve a simulator on its folder."""
    async with serve_simulator(config, SystemClock()) as simulator, aiohttp.ClientSession(simulator.url) as http:
        yield simulator, http


async def do(http: aiohttp.ClientSession, what: str, **arguments: object) -> dict[str, Any]:
    """Do what a person does, over the control API."""
    async with http.post(f"/sim/{what}", json={"person": "ada", **arguments}) as answer:
        done: dict[str, Any] = await answer.json()
    assert answer.status == 200, done
    return done


async def bot(simulator: Simulator, http: aiohttp.ClientSession, method: str, **values: object) -> Any:
    """Call Telegram as the bot."""
    token = simulator.wire.config.telegram.bot_token
    async with http.post(f"/telegram/bot{token}/{method}", json=values) as answer:
        return (await answer.json())["result"]


async def state(http: aiohttp.ClientSession) -> dict[str, Any]:
    async with http.get("/sim/state") as answer:
        known: dict[str, Any] = await answer.json()
    return known


async def test_chats_files_and_settings_are_there_again(config: SimulatorConfig, gateway: FakeGateway) -> None:
    async with started(config) as (simulator, http):
        texted = await do(http, "twilio/say", text="STOP", wait=True)
        await do(http, "twilio/phone", mode="off")
        await do(http, "twilio/say", text="look", media=[PICTURE], wait=True)
        await do(http, "slack/say", text="hello *there*")
        await do(http, "telegram/start")
        photo = await do(http, "telegram/say", text="**hi**", photo=PICTURE["data"])
        await bot(simulator, http, "setMyCommands", commands=[{"command": "help", "description": "What I can do"}])
        await eventually(lambda: len(gateway.at("/webhooks/slack")) == 1)
        await eventually(lambda: not simulator.wire.is_busy("twilio:carry:"))
        await http.get("/sim/state")  # whose answer comes after the event's
        before = await state(http)
    async with started(config) as (simulator, http):
        after = await state(http)
        assert after == before
        assert before["twilio"]["people"]["ada"]["bubbles"][0]["id"] == texted["sid"]
        url = after["twilio"]["people"]["ada"]["bubbles"][-1]["media"][0]["url"]
        async with http.get(url) as answer:
            assert await answer.read() == b"a picture"
        assert [one["command"] for one in await bot(simulator, http, "getMyCommands")] == ["help"]
        again = await do(http, "telegram/say", text="again")
        assert again["message_id"] > photo["message_id"]
        assert again["update_id"] > photo["update_id"]


async def test_what_waited_for_the_bot_waits_again_under_its_number(config: SimulatorConfig) -> None:
    async with started(config) as (_, http):
        await do(http, "telegram/start")
        said = await do(http, "telegram/say", text="are you there?")
    async with started(config) as (simulator, http):
        waiting = await bot(simulator, http, "getUpdates")
        assert [update["update_id"] for update in waiting][-1] == said["update_id"]


async def test_what_the_gateway_was_not_told_it_is_told_after_the_start(
    config: SimulatorConfig, gateway: FakeGateway
) -> None:
    asked = asyncio.Event()

    async def hang(_: object) -> Any:
        asked.set()
        await never()

    gateway.respond = hang
    async with started(config) as (_, http):
        sid = (await do(http, "twilio/say", text="hello"))["sid"]
        await do(http, "slack/say", text="hello")
        await eventually(asked.is_set, "a call to the gateway")
    gateway.heard.clear()
    gateway.respond = None
    async with started(config) as (simulator, http):
        simulator.open()
        await eventually(lambda: {one.path for one in gateway.heard} == {"/webhooks/sms", "/webhooks/slack"})
        assert gateway.at("/webhooks/sms")[0].form["MessageSid"] == sid


async def test_a_reset_is_kept_too_and_a_spoilt_file_is_set_aside(config: SimulatorConfig) -> None:
    assert config.kept_in is not None
    async with started(config) as (_, http):
        await do(http, "slack/say", text="soon forgotten")
        async with http.post("/sim/reset", json={}) as answer:
            assert answer.status == 200
        await do(http, "twilio/say", text="kept")
    (config.kept_in / "twilio.json").write_text("{}")
    async with started(config) as (_, http):
        known = await state(http)
        assert "soon forgotten" not in str(known)
        assert known["twilio"]["people"]["ada"]["bubbles"] == []
        assert (config.kept_in / "twilio.unreadable").read_text() == "{}"


async def test_the_last_write_waits_for_one_that_is_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    replace = Path.replace

    def held(self: Path, target: Path) -> Path:
        if not begun.is_set():
            begun.set()
            goes_on.wait(PATIENCE)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", held)
    said, journal = Said(), Journal()
    keeper = Keeper(tmp_path, [said], journal)
    first = asyncio.create_task(keeper.write())
    await eventually(begun.is_set)
    first.cancel()
    await asyncio.wait([first])
    said.text = "last"
    last = asyncio.create_task(keeper.write())
    asyncio.get_running_loop().call_soon(goes_on.set)
    await last
    assert (tmp_path / "said.json").read_text() == "last"
    assert os.listdir(tmp_path) == ["said.json"]


async def test_a_killed_simulator_has_written_what_was_said(config: SimulatorConfig) -> None:
    assert config.kept_in is not None
    kept = config.kept_in / "slack.json"
    async with started(config) as (_, http):
        await do(http, "slack/say", text="before the kill")
        await eventually(lambda: kept.exists() and "before the kill" in kept.read_text())
