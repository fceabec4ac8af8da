"""People who send files on every channel, and the worker's parts that take them in."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abilities.documents.file import read_content
from abilities.files.hearing import Hearing
from abilities.files.showing import FileShowing
from abilities.files.tools import list_files, read_file, search_file
from abilities.files.vision import Vision
from channels.slack.media import SlackMedia
from channels.sms.media import TwilioMedia
from channels.telegram.downloads import TelegramDownloads
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.store import FileLimits, FileStore
from core.files.types import FileFetcher
from core.llm.types import ChatMessage, Marker
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import SLACK, TELEGRAM, TWILIO
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import EmailHarness
from tests.contract.harness import ChannelHarness
from tests.core.builders import FakeModel, Step


def fetcher_of(harness: ChannelHarness) -> Any:
    """Return what fetches files from a harness's provider."""
    simulator = harness.simulator
    if isinstance(harness, EmailHarness):
        return harness.media()
    if harness.name == "sms":
        account = {"account_sid": TWILIO.account_sid, "auth_token": TWILIO.auth_token}
        return TwilioMedia(**account, api_url=simulator.twilio_url)
    if harness.name == "slack":
        return SlackMedia(bot_token=SLACK.bot_token, api_url=simulator.slack_url)
    return TelegramDownloads(bot_token=TELEGRAM.bot_token, api_url=simulator.telegram_url)


@dataclass(slots=True, kw_only=True)
class Sender:
    """A person who sends files to a system with a scripted model."""

    system: Approving
    store: FileStore
    fetcher: FileFetcher
    vision: Vision = field(default_factory=Vision)
    hearing: Hearing = field(default_factory=Hearing)

    async def sends(
        self, data: bytes, name: str, content_type: str, *steps: Step, text: str = "", work: bool = True
    ) -> str:
        """Send a file as the person, with a scripted model; return what the person then reads."""
        channel = self.system.delivery.channel
        encoded = base64.b64encode(data).decode()
        if isinstance(channel, EmailHarness):
            mail = channel.letter(text)
            main, _, kind = content_type.partition("/")
            mail.add_attachment(data, maintype=main, subtype=kind, filename=name)
            await channel.send(mail)
        elif channel.name == "sms":
            await channel.act("say", text=text, media=[{"content_type": content_type, "data": encoded}])
        elif channel.name == "slack":
            await channel.act("say", text=text, files=[{"name": name, "content": f"base64:{encoded}"}])
        else:
            kind = "photo" if content_type == "image/jpeg" else "document"
            given = {"data": encoded, "name": name, "content_type": content_type, "caption": text}
            await channel.act(kind, **given)
        await channel.settled()
        return await self.works(*steps) if work else ""

    async def works(self, *steps: Step) -> str:
        """Let the worker do what is to be done; return what the person then reads."""
        channel = self.system.delivery.channel
        seen = len(channel.bubbles())
        self.system.model = FakeModel(list(steps))
        self.system.options["files"] = self.files()
        await self.system.work()
        return "\n".join(bubble.text for bubble in channel.bubbles()[seen:])

    def files(self) -> Files:
        """Return the parts of a new worker."""
        intake = FileIntake(
            self.store, {self.system.delivery.channel.name: self.fetcher}, self.system.clock, read_content
        )
        return Files(intake, FileShowing(self.vision, self.hearing))

    @property
    def shown(self) -> ChatMessage:
        """Return the file as the model was shown it in its first request."""
        messages: tuple[ChatMessage, ...] = self.system.model.requests[0].messages
        (message,) = [one for one in messages if one.marker is Marker.FILE]
        return message


@asynccontextmanager
async def open_sender(
    channel: str, database_url: str, folder: Path, limits: FileLimits | None = None
) -> AsyncIterator[Sender]:
    """Open it all on an empty database and an empty folder."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        fetcher = fetcher_of(system.delivery.channel)
        system.more += [list_files, read_file, search_file]
        store = FileStore(system.delivery.store.database, FolderStore(folder), limits or FileLimits())
        try:
            yield Sender(system=system, store=store, fetcher=fetcher)
        finally:
            await fetcher.close()
