"""A worker that dies by SIGKILL at one statement of speaking and sending; it ends as usual past the last."""

import asyncio
import random
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from abilities.documents.file import read_content
from abilities.speech.recording import BudgetedSpeaker
from abilities.speech.store import SpokenAnswers
from abilities.speech.voicing import Places, Voicing
from core.files.access import Files
from core.files.blobs import FolderStore
from core.files.intake import FileIntake
from core.files.store import FileStore
from core.ids import make_id
from core.messaging.outbox import Outbox
from jobs.delivery.rendering import SentFiles
from jobs.delivery.runner import DeliveryRunner
from notify.slack.send import SlackNotification
from onevalet.wiring.abilities import use_abilities
from tests.abilities.household.victims import DeadlyDatabase
from tests.abilities.speech.harness import Mouth
from tests.clocks import StandingClock
from tests.contract.canaries import SLACK
from tests.core.harness import LEASE, RecordedWakeups


@dataclass(slots=True)
class NotedMouth(Mouth):
    """A speech model that writes down in a file what it says."""

    notes: Path = Path()

    async def speak(self, text: str, sound: str) -> bytes:
        """Return a recording."""
        with self.notes.open("a") as file:
            file.write(f"{text}\n")
        return await super(NotedMouth, self).speak(text, sound)


async def work(url: str, point: str, slack: str, now: str, folder: str, notes: str) -> None:
    """Have spoken what is to be spoken, and send what is owed."""
    database, clock = DeadlyDatabase(url, point), StandingClock(datetime.fromisoformat(now))
    kept = FileStore(database, FolderStore(Path(folder)))
    sender = SlackNotification(bot_token=SLACK.bot_token, api_url=slack)
    voicing = Voicing(
        SpokenAnswers(database, make_id),
        Places({"slack": sender}, links=True),
        BudgetedSpeaker(NotedMouth(notes=Path(notes)), database),
        Files(FileIntake(kept, {}, clock, read_content)),
        RecordedWakeups(),
        "victim",
    )
    while claim := await voicing.claim(None):
        await voicing.run(claim)
    outbox = Outbox(database, make_id, LEASE)
    runner = DeliveryRunner(outbox, {"slack": sender}, "victim", random.Random(1), clock=clock, files=SentFiles(kept))
    while owed := await runner.claim(None):
        await runner.run(owed)
    await sender.close()
    await database.close()


def main() -> None:
    """Work until the point."""
    use_abilities()
    asyncio.run(work(*sys.argv[1:]))
