"""A person who speaks and listens, over one channel: what they say is heard, and answers are spoken to them."""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from abilities.documents.file import read_content
from abilities.files.hearing import Hearing
from abilities.files.showing import FileShowing
from abilities.files.transcribing import BudgetedTranscriber
from abilities.files.vision import Vision
from abilities.speech.answers import Voice
from abilities.speech.recording import BudgetedSpeaker
from abilities.speech.store import SpokenAnswers
from abilities.speech.tools import say_aloud
from abilities.speech.voicing import Places, Voicing
from core.budgets.store import DailyBudgets
from core.errors import ModelError
from core.files.access import Files
from core.files.intake import FileIntake
from core.ids import make_id
from core.llm.types import Recording, Transcript
from core.messaging.channels import NotificationChannel
from core.people.preferences import PreferenceStore
from core.turns.services import ForTurn
from tests.abilities.documents.sounds import mp3, ogg
from tests.contract.files_out import Outlet, open_outlet
from tests.contract.person_files import fetcher_of
from tests.core.builders import FakeModel, Step, says
from tests.core.harness import Store
from workbench.simulator.base import OpenedFile

SECONDS = 2.0


@dataclass(slots=True)
class Ear:
    """A transcription model that hears the same words in every recording."""

    words: str = "What is on today?"

    def cost(self, seconds: float) -> float:
        """Return a price."""
        return 0.0

    async def transcribe(self, recording: Recording) -> Transcript:
        """Return the words."""
        return Transcript(self.words)


@dataclass(slots=True)
class Mouth:
    """A speech model at a hundredth of a cent a character. `said`: (text, format) of each call."""

    said: list[tuple[str, str]] = field(default_factory=list)
    fails: ModelError | None = None
    hangs: asyncio.Event | None = None

    def cost(self, characters: int, seconds: float) -> float:
        """Return the price."""
        return characters / 10_000

    async def speak(self, text: str, sound: str) -> bytes:
        """Return a recording that no other text has."""
        self.said.append((text, sound))
        if self.hangs is not None:
            await self.hangs.wait()
        if self.fails is not None:
            raise self.fails
        words = text.encode()[:100]
        return ogg(SECONDS, words) if sound == "opus" else mp3(SECONDS) + words


def services_of(store: Store, *, speaks: bool = True) -> Mapping[type, ForTurn]:
    """Return the service of words and tools."""
    answers = SpokenAnswers(store.database, make_id)
    return {Voice: lambda tenant_id, turn_id: Voice(answers, tenant_id, turn_id, speaks)}


@dataclass(slots=True)
class Listener:
    """A person, the system that they speak with, and its voice."""

    outlet: Outlet
    files: Files
    mouth: Mouth | None = field(default_factory=Mouth)
    budgets: DailyBudgets | None = None
    links: bool = True

    @property
    def store(self) -> Store:
        return self.outlet.system.delivery.store

    @property
    def channel(self) -> Any:
        """Return the harness of the channel."""
        return self.outlet.system.delivery.channel

    def voicing(self, channels: Mapping[str, NotificationChannel] | None = None) -> Voicing:
        """Return the work of a worker."""
        speaker = BudgetedSpeaker(self.mouth, self.store.database, self.budgets) if self.mouth else None
        places = Places(channels or {self.channel.name: self.channel.sender}, self.links)
        answers = SpokenAnswers(self.store.database, make_id)
        return Voicing(answers, places, speaker, self.files, self.store.wakeups, "w1")

    async def wants_voice(self) -> None:
        """Let the person turn it on."""
        await self.says("hello", says("Hello."))
        tenant = str(await self.store.one("select tenant_id from tenants"))
        await PreferenceStore(self.store.database).change(tenant, "voice", "on", "turn", "call")

    async def records(self, words: str, *steps: Step) -> list[str | OpenedFile]:
        """Let the person send a voice note; return what they then get."""
        await self.record(words)
        return await self.works(*steps)

    async def record(self, words: str) -> None:
        """Let the person send a voice note, and nobody answer it yet."""
        encoded = base64.b64encode(ogg(words=words.encode())).decode()
        if self.channel.name == "sms":
            await self.channel.act("say", text="", media=[{"content_type": "audio/ogg", "data": encoded}])
        elif self.channel.name == "slack":
            clip = {"name": "audio_message.m4a", "content": f"base64:{encoded}", "clip": "audio"}
            await self.channel.act("say", text="", files=[clip])
        else:
            await self.channel.act("voice", data=encoded, content_type="audio/ogg", caption="")
        await self.channel.settled()

    async def says(self, text: str, *steps: Step) -> list[str | OpenedFile]:
        """Let the person write; return what they then get."""
        await self.channel.said(text)
        return await self.works(*steps)

    async def answers(self, *steps: Step) -> None:
        """Let a worker answer in writing only."""
        self.outlet.system.model = FakeModel(list(steps))
        await self.outlet.system.turn()
        await self.outlet.system.delivery.deliver()

    async def works(self, *steps: Step) -> list[str | OpenedFile]:
        """Let a worker do all that is to be done; return what the person then gets."""
        seen = len(self.outlet.got())
        self.outlet.system.model = FakeModel(list(steps))
        await self.outlet.system.work()
        await self.speak()
        await self.outlet.system.work()
        await self.channel.settled()
        return self.outlet.got()[seen:]

    async def speak(self) -> None:
        """Let a worker have spoken what is to be spoken."""
        voicing = self.voicing()
        while claim := await voicing.claim(None):
            await voicing.run(claim)

    async def ends(self) -> list[tuple[object, object]]:
        """Return what became of the answers that were to be spoken, as (state, reason)."""
        rows = await self.store.admin.fetch("select state, reason from spoken_answers order by created_at, outbound_id")
        return [(row["state"], row["reason"]) for row in rows]


def sounds(got: list[str | OpenedFile]) -> list[OpenedFile]:
    """Return the recordings among what somebody got."""
    return [one for one in got if isinstance(one, OpenedFile)]


@asynccontextmanager
async def open_listener(channel: str, database_url: str, folder: Path, *, twice: Any = None) -> AsyncIterator[Listener]:
    """Open it all on an empty database and an empty folder."""
    async with open_outlet(channel, database_url, folder, twice=twice) as outlet:
        harness, system = outlet.system.delivery.channel, outlet.system
        fetcher = fetcher_of(harness)
        intake = FileIntake(outlet.files.intake.store, {harness.name: fetcher}, system.clock, read_content)
        hearing = Hearing(BudgetedTranscriber(Ear(), system.delivery.store.database))
        files = Files(intake, FileShowing(Vision(), hearing))
        system.options |= {"files": files, "services": services_of(system.delivery.store)}
        system.more.append(replace(say_aloud, needs_setting=""))
        try:
            yield Listener(outlet, files)
        finally:
            await fetcher.close()
