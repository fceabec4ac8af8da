"""Recordings: paid once by their person, kept when nobody hears them, and forgotten with what they say."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from abilities.documents.file import read_content
from abilities.files.hearing import Hearing
from abilities.files.showing import FileShowing
from abilities.files.transcribing import BudgetedTranscriber
from core.budgets.store import DailyBudgets
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.kinds import FileKind
from core.files.store import FileStore
from core.files.types import FileTurn, SeenFile, SentFile, StoredFile
from core.journal.types import StepKey
from core.llm.types import Recording, Transcript
from core.messaging.messages import Address, InboundMessage, Media
from tests.abilities.documents.sounds import ogg
from tests.clocks import StandingClock
from tests.core.harness import Store, opened
from tests.eventually import eventually, never

ANN = "+15550000001"
WORDS = "I am allergic to nuts."


@dataclass(slots=True)
class Ear:
    """A transcription model at a tenth of a cent a second, whose calls can be made to hang."""

    heard: list[Recording] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    hang: asyncio.Event | None = None

    def cost(self, seconds: float) -> float:
        """Return the price."""
        return seconds / 1000

    async def transcribe(self, recording: Recording) -> Transcript:
        """Hear the same words each time."""
        self.heard.append(recording)
        self.reached.set()
        if self.hang is not None:
            await self.hang.wait()
        return Transcript(WORDS)


@dataclass(slots=True)
class Home:
    """A person who has sent one voice note, and workers that hear it."""

    store: Store
    folder: Path
    cap: Decimal = Decimal(1)
    ear: Ear = field(default_factory=Ear)
    message: tuple[str, str, str] = ("", "", "")

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Hand out the note."""
        return SentFile("audio/ogg", ogg(10.0))

    async def send(self) -> None:
        """Let the person send the note."""
        address = Address("sms", "+15559990000", ANN)
        media = (Media("https://a/1", "audio/ogg", voice=True),)
        await self.store.inbox.accept(InboundMessage(address, ANN, ("M1",), "", media))
        lease, turn = await self.store.claim_turn()
        self.message = (lease.tenant_id, turn.turn_id, turn.request.inbound[0].id)
        await self.store.finish(lease, turn, "ok")

    async def take_in(self) -> SeenFile:
        """Take the note in, as a new worker."""
        database, clock = self.store.database, StandingClock()
        budgets = DailyBudgets(database, clock, self.cap, ())
        hearing = Hearing(BudgetedTranscriber(self.ear, database, budgets))
        files = Files(
            FileIntake(FileStore(database, FolderStore(self.folder)), {"sms": self}, clock, read_content),
            FileShowing(hearing=hearing),
        )
        (seen,) = await files.take_in(*self.message, "sms", "de-DE")
        return seen

    async def spent(self) -> Decimal:
        """Return what the person has spent."""
        return Decimal(str(await self.store.one("select coalesce(sum(spent), 0) from spending")))


@pytest.fixture
async def home(database_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    async with opened(database_url) as store:
        home = Home(store, tmp_path / "files")
        await home.send()
        yield home


async def test_a_note_is_paid_once_by_its_length(home: Home) -> None:
    first = await home.take_in()
    assert (first.words, first.is_voice, first.failure) == (WORDS, True, "")
    assert await home.spent() == Decimal("0.01")
    assert await home.take_in() == first
    assert (len(home.ear.heard), await home.spent()) == (1, Decimal("0.01"))
    assert home.ear.heard[0].language == "de-DE"


async def test_a_worker_that_dies_while_it_listens_makes_nobody_pay_twice(home: Home) -> None:
    home.ear.hang = asyncio.Event()
    dying = asyncio.create_task(home.take_in())
    await home.ear.reached.wait()
    dying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dying
    assert await home.store.column("select state || ' ' || page_count from files") == ["kept 0"], "the note is kept"
    home.ear.hang = None
    assert (await home.take_in()).words == WORDS
    assert (len(home.ear.heard), await home.spent()) == (2, Decimal("0.01"))
    assert await home.store.db.files.count() == 1


async def test_whoever_has_no_money_left_is_told_so_and_the_note_is_kept(home: Home) -> None:
    home.cap = Decimal("0.005")
    seen = await home.take_in()
    assert "budget" in seen.failure or "spend" in seen.failure, seen.failure
    assert (len(home.ear.heard), await home.spent()) == (0, Decimal(0))
    home.cap = Decimal(1)
    assert (await home.take_in()).words == WORDS


async def test_forgetting_what_was_said_forgets_the_note(home: Home) -> None:
    await home.take_in()
    tenant = home.message[0]
    assert await home.store.db.inbound.column("heard") == [WORDS]
    await home.store.database.one("select redact($1,$2) as done", tenant, ["allergic to nuts"])
    assert await home.store.db.files.count() == 0
    assert "nuts" not in str(await home.store.db.inbound.column("heard"))


async def test_recordings_of_one_person_leave_room_for_anothers(home: Home) -> None:
    class Held:
        """A model that never answers one person."""

        reached = 0

        async def transcribe(self, tenant_id: str, turn_id: str, key: StepKey, recording: Recording) -> str:
            if tenant_id == "ann":
                self.reached += 1
                await never()
            return WORDS

    class Kept:
        """A store of one recording."""

        async def bytes_of(self, tenant_id: str, file_id: str) -> bytes:
            return ogg(1.0)

        async def keep_transcript(self, tenant_id: str, file_id: str, pages: Sequence[str]) -> None: ...

    model, store = Held(), cast(FileStore, Kept())
    hearing = Hearing(cast(BudgetedTranscriber, model))
    file = StoredFile("f0123456789", FileKind.AUDIO, "audio/ogg", "a", 1, 0, False, "", StandingClock().at)

    async def hear(person: str) -> Sequence[str]:
        return await hearing._transcribed(store, FileTurn(person, "turn", None), file)

    slow = [asyncio.create_task(hear("ann")) for _ in range(4)]
    await eventually(lambda: model.reached, "a recording that is heard")
    assert list(await hear("ben")) == [WORDS]
    assert model.reached < 4
    for one in slow:
        one.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
