"""The page about plugins: what it brings, on a whole installation with the shipped WebSocket channel."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from core.errors import ConfigError
from core.messaging.messages import Address
from onevalet import Event, OneValet, Part, Receipt, Target
from onevalet.settings import load_settings
from onevalet.testing import MemorySink, ScriptedModel, calls, text
from onevalet.wiring.own_channels import own_ways_in, own_ways_out
from tests.core.harness import opened
from tests.documents.blocks import write_files
from tests.onevalet.pages import page_folder as page_folder

TOKEN = "a-token-of-anns-own"


async def test_a_pager_of_the_page_is_a_channel(page_folder: Path) -> None:
    write_files("docs/plugins.md", page_folder)
    settings = load_settings(_env_file=None, onevalet_channels=("pager.channel",))
    assert [way.name for way in own_ways_out(settings)] == ["pager"]
    assert [way.name for way in own_ways_in(settings, MemorySink())] == ["pager"]


async def test_a_channel_of_the_page_sends(page_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files("docs/plugins.md", page_folder)
    monkeypatch.setenv("LOGBOOK", str(page_folder))
    [logbook] = own_ways_out(load_settings(_env_file=None, onevalet_channels=("logbook.channel",)))
    assert await logbook.send(Part("Hello"), Target(Address("logbook", "own", "ann"), "ref1")) == Receipt("ref1")
    assert (page_folder / "ann.txt").read_text() == "Hello\n"


def test_a_channel_may_not_take_anothers_name(page_folder: Path) -> None:
    (page_folder / "logbook.py").write_text(
        "from onevalet import OutboundChannel\nclass Mine(OutboundChannel):\n    name = 'sms'\n"
    )
    with pytest.raises(ConfigError, match="the name 'sms' is another's"):
        own_ways_out(load_settings(_env_file=None, onevalet_channels=("logbook",)))


class App:
    """An app of a person's own that is connected."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.seen: list[dict[str, Any]] = []

    async def until(self, name: str) -> dict[str, Any]:
        """Return the next message that has a name, and say that it is taken."""
        while True:
            said: dict[str, Any] = await self.socket.receive_json(timeout=20)
            self.seen.append(said)
            if name in said:
                if name == "message":
                    await self.socket.send_json({"taken": said["message"]})
                return said


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[App]:
    async with (
        aiohttp.ClientSession() as http,
        http.ws_connect(f"http://127.0.0.1:{port}/websocket") as socket,
    ):
        await socket.send_json({"token": TOKEN})
        app = App(socket)
        await app.until("ready")
        yield app


def websocket_settings(folder: Path, database_url: str, redis_url: str, port: int, plugin: str) -> dict[str, str]:
    """Return the settings of an installation that is reached by the page's channel."""
    return {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "ONEVALET_HOME": str(folder / "home"),
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_MEMORY": "off",
        "ONEVALET_ACCESS": "open",
        "ONEVALET_PLUGINS": plugin,
        "ONEVALET_CHANNELS": "agents.websocket",
        "PORT": str(port),
    }


async def test_a_websocket_and_a_service_are_played_through(
    page_folder: Path, database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    write_files("docs/plugins.md", page_folder)
    monkeypatch.chdir(page_folder)
    monkeypatch.setenv("WEBSOCKET_TOKENS", f"ann:{TOKEN},short:tiny")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel([text("Hello Ann.")]))
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        settings = websocket_settings(page_folder, database_url, redis_url, unused_tcp_port, "garden.watering")
        valet = await stack.enter_async_context(OneValet(settings, serve=True))
        async with connected(unused_tcp_port) as app:
            for _ in range(2):  # the same message, sent twice
                await app.socket.send_json({"say": "Hello", "id": "1"})
            answer = await app.until("message")
            assert (answer["text"], answer["kind"]) == ("Hello Ann.", "reply")
            assert {"kept": "1"} in app.seen
            assert any("event" in said for said in app.seen)
            assert len(model.calls) == 1

            async with opened(database_url) as store:
                [tenant] = await store.database.rows("select * from find_tenants(2)")
            ann = str(tenant["tenant_id"])
            await valet.events.publish(Event("garden", "soil.dry", {"bed": "roses"}, id="1", tenant_id=ann))
            told = await app.until("message")
            assert told["text"] == "The soil of the roses is dry."
            await app.socket.send_str("no json")
            assert await app.until("error")
        async with aiohttp.ClientSession() as http:
            url = f"http://127.0.0.1:{unused_tcp_port}/websocket"
            for wrong in ("tiny", "", TOKEN[:-1]):
                async with http.ws_connect(url) as socket:
                    await socket.send_json({"token": wrong})
                    await socket.receive(timeout=10)
                    assert socket.close_code == 4401


WATERING = """
from onevalet import tool


@tool(name="water_bed", needs_approval=True)
async def water_bed(bed: str) -> str:
    \"\"\"Water a bed.\"\"\"
    return f"Watered {bed}."
"""


async def test_cards_are_decided_and_drafts_shown_over_a_websocket(
    page_folder: Path, database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("WEBSOCKET_TOKENS", f"ann:{TOKEN}")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
    (page_folder / "garden.py").write_text(WATERING)
    words = "I will see to the roses, the tulips and the lemon tree every morning at eight, before it gets too hot."
    async with AsyncExitStack() as stack:
        replies = [calls(("water_bed", {"bed": "the roses"})), text("Watered."), text(words).over(2)]
        model = await stack.enter_async_context(ScriptedModel(replies))
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        settings = websocket_settings(page_folder, database_url, redis_url, unused_tcp_port, "garden")
        await stack.enter_async_context(OneValet(settings, serve=True))
        app = await stack.enter_async_context(connected(unused_tcp_port))
        await app.socket.send_json({"say": "Water the roses", "id": "1"})
        card = await app.until("message")
        assert card["kind"] == "card"
        assert "the roses" in card["text"]
        assert [button["label"] for button in card["buttons"]] == ["Approve", "Edit", "Cancel"]
        await app.socket.send_json({"press": "no-such-token", "id": "2"})
        await app.socket.send_json({"press": card["buttons"][0]["token"], "id": "3"})
        assert (await _reply(app))["text"] == "Watered."
        await app.socket.send_json({"say": "What will you do?", "id": "4"})
        assert (await _reply(app))["text"] == words
        drafts = [said["draft"] for said in app.seen if "draft" in said]
        assert drafts, "the answer was shown while it was written"
        assert all(words.startswith(draft.rstrip()) for draft in drafts if draft.startswith("I will see"))
        assert len(model.calls) == 3, "a press is decided once, without the model"


async def _reply(app: App) -> dict[str, Any]:
    """Return the next message that answers; receipts are passed over."""
    while (said := await app.until("message"))["kind"] != "reply":
        continue
    return said
