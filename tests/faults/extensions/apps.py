"""Apps of people's own, connected to a plugin's channel: they try again until what they say is kept."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp

from tests.faults.harness import PUBLIC_URL

CANARY = "zqcanary-websocket"


def token_of(person: str) -> str:
    """Return the token by which a person's app is let in."""
    return f"{CANARY}-{person}"


@dataclass(slots=True)
class App:
    """One person's app. `messages`: what it was told, by id; `holds`: it does not say that it has them."""

    url: str
    person: str
    holds: bool = False
    messages: dict[str, Mapping[str, object]] = field(default_factory=dict)
    told: Counter[str] = field(default_factory=Counter)
    _said: dict[str, dict[str, str]] = field(default_factory=dict)
    _socket: aiohttp.ClientWebSocketResponse | None = None

    @property
    def unkept(self) -> int:
        """Return how much of what was said is not known to be kept."""
        return len(self._said)

    async def say(self, id: str, **what: str) -> None:
        """Send words or a press, again over each new connection until it is kept."""
        self._said[id] = {**what, "id": id}
        if self._socket is not None:
            with suppress(aiohttp.ClientError, ConnectionError):
                await self._socket.send_json(self._said[id])

    def texts(self, kind: str) -> list[str]:
        """Return the messages of a kind, each once."""
        return [str(message["text"]) for message in self.messages.values() if message["kind"] == kind]

    def button(self, number: int) -> str:
        """Return what a button of its card carries."""
        [card] = [message for message in self.messages.values() if message["kind"] == "card"]
        buttons = card["buttons"]
        assert isinstance(buttons, list)
        return str(buttons[number]["token"])

    async def run(self, session: aiohttp.ClientSession) -> None:
        """Stay connected until cancelled."""
        while True:
            with suppress(aiohttp.ClientError, ConnectionError):
                async with session.ws_connect(f"{self.url}/websocket") as socket:
                    await socket.send_json({"token": token_of(self.person)})
                    await self._serve(socket)
            self._socket = None
            await asyncio.sleep(0.1)

    async def _serve(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            told = message.json()
            if "ready" in told:
                self._socket = socket
                for said in [*self._said.values()]:
                    await socket.send_json(said)
            elif "kept" in told:
                self._said.pop(told["kept"], None)
            elif "message" in told:
                self.messages[told["message"]] = told
                self.told[told["message"]] += 1
                if not self.holds:
                    await socket.send_json({"taken": told["message"]})


@asynccontextmanager
async def running_apps(url: str, people: list[str]) -> AsyncIterator[dict[str, App]]:
    """Run an app for each of these people inside the block."""
    apps = {person: App(url, person) for person in people}
    headers = {"Host": PUBLIC_URL.removeprefix("https://")}
    async with aiohttp.ClientSession(headers=headers) as session:
        tasks = [asyncio.create_task(app.run(session)) for app in apps.values()]
        try:
            yield apps
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
