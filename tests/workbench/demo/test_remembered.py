"""What is remembered of a talk with the demo model: what somebody asks it to remember, and nothing else."""

from dataclasses import replace

from abilities.lists.notes import add_note, list_notes
from abilities.memory.config import MomexConfig
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.tools import list_memories, remember, search_memory
from agents.arithmetic import calculate
from agents.clock import current_time
from core.tools.storage import Storage
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.memory.harness import NOW, WordEmbedder
from tests.abilities.memory.test_requests import of
from tests.clocks import StandingClock
from tests.contract.approving import open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.harness import Ids
from workbench.demo.model import DEMO_MODEL

TALK = """Hallo | Was kannst du? | Flüge von Berlin nach Rom am Freitag | Notiz: Milch kaufen | Zeig mir meine Notizen
    Jeden Werktag um 7 das Wetter in Berlin | EDIT 7P kürzer | /prefs language de | Was ist 17,5 % von 260?
    Erinnere mich am 31. Februar an den Zahnarzt | Was weißt du über mich?
    Meine Schwester heißt Ottilie."""


async def test_a_talk_with_the_demo_model_leaves_what_it_was_asked_to_remember(database_url: str) -> None:
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        database = system.delivery.store.database
        parts = MomexParts(WordEmbedder(), make_id=Ids(), clock=StandingClock(NOW))
        momex = Momex(config=MomexConfig(structured=False), database=database, parts=parts)
        work = replace(momex.work, reads_turns=False)
        system.model, system.options = client, {"momex": momex, "storage": Storage(database)}
        system.more = [current_time, calculate, add_note, list_notes, list_memories, search_memory, remember]
        for text in [*of(TALK), "Remember that I row on Tuesdays"]:
            await system.say(text)
            while job := await work.claim(None, "w"):
                await work.run(job)
        assert await system.delivery.store.db.memories.column("text") == ["I row on Tuesdays"]
        assert await system.delivery.store.db.memory_jobs.column("id") == []
        await momex.close()
    await client.close()
