"""Files that go out on every channel: a system whose tools return them, and what the person gets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import aiohttp

from abilities.documents.file import read_content
from channels.http.files import FileRoutes
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.links import FileLinks
from core.files.store import FileStore
from core.inbox.inbox import Inbox
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool, tool
from jobs.delivery.rendering import SentFiles
from jobs.delivery.runner import DeliveryRunner
from tests.clocks import StandingClock
from tests.contract.approving import Approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.harness import PUBLIC_URL, open_harness
from tests.core.builders import FakeModel, Step
from tests.core.harness import OPEN, opened
from workbench.simulator.base import OpenedFile

UPLOADS = {
    "sms": "twilio.messages.create",
    "slack": "slack.files.completeUploadExternal",
    "telegram": "telegram.sendDocument",
}
"""The call by which a document is seen."""


@dataclass(slots=True, kw_only=True)
class Outlet:
    """A system with a tool that returns files; `made` are those that it returned, in order."""

    system: Approving
    files: Files
    links: FileLinks
    made: list[str] = field(default_factory=list)

    def maker(self, **contents: bytes) -> AnyTool:
        """Return a tool that returns files by their names, in which two underscores stand for a dot."""

        @tool(name="make_files", effect="once")
        async def make_files(context: ToolExecutionContext) -> str:
            """Make files."""
            for name, data in contents.items():
                self.made.append(name.replace("__", "."))
                await context.files.put(self.made[-1], data)
            return "Made."

        return make_files

    async def works(self, *steps: Step) -> list[str | OpenedFile]:
        """Run the worker until nothing waits; return the texts and files that the person got, in order."""
        seen = len(self.got())
        self.system.model = FakeModel(list(steps))
        await self.system.work()
        await self.system.delivery.channel.settled()
        return self.got()[seen:]

    async def deliver_later(self) -> None:
        """Make everything due and send it."""
        await self.system.delivery.deliver_later()
        await self.system.delivery.channel.settled()

    def _bubbles(self, person: str) -> list[dict[str, Any]]:
        harness = self.system.delivery.channel
        state = cast(dict[str, Any], harness.simulator.providers[harness.provider].state())["people"][person]
        bubbles: list[dict[str, Any]] = state.get("bubbles") or state.get("messages") or []
        return [bubble for bubble in bubbles if bubble["direction"] == "out"]

    def got(self, person: str = "ada") -> list[str | OpenedFile]:
        """Return all that a person has got of us."""
        harness = self.system.delivery.channel
        provider = harness.simulator.providers[harness.provider]
        got: list[str | OpenedFile] = []
        for bubble in self._bubbles(person):
            media = bubble["files"] if harness.name == "slack" else bubble["media"]
            shown = media if isinstance(media, list) else [media] if media else []
            if bubble["text"] and not shown:
                got.append(bubble["text"])
            for file in shown:
                found = provider.file(file["url"].rpartition("/")[2])
                got.append(found or file["url"])
        return got

    async def fetch(self, link: str, method: str = "GET") -> tuple[int, bytes, dict[str, str]]:
        """Open a link; return status, body and headers."""
        path = link.removeprefix(PUBLIC_URL)
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, self.system.delivery.channel.gateway + path) as answer,
        ):
            return answer.status, await answer.read(), dict(answer.headers)


@asynccontextmanager
async def open_outlet(channel: str, database_url: str, folder: Path, *, twice: Any = None) -> AsyncIterator[Outlet]:
    """Open it all on an empty database and an empty folder."""
    clock = StandingClock()
    async with opened(database_url, twice) as store:
        kept = FileStore(store.database, FolderStore(folder))
        links = FileLinks((b"k" * 32,), PUBLIC_URL)
        routes = FileRoutes(kept, links, clock).routes()
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, clock=clock)
        async with open_harness(HARNESSES[channel], inbox, routes) as harness:
            ways = {harness.name: harness.sender}
            runner = DeliveryRunner(store.outbox, ways, "w1", clock=clock, files=SentFiles(kept, links))
            system = Approving(DeliveryHarness(store, harness, runner), clock)
            files = Files(FileIntake(kept, {}, clock, read_content))
            system.options["files"] = files
            yield Outlet(system=system, files=files, links=links)
