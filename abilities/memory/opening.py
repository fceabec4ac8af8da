"""Memory as the settings configure it: the recall of turns, and the work of a worker for it."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

from abilities.memory.config import MomexConfig
from abilities.memory.extraction.extractors import LaterExtractor
from abilities.memory.forgetting import Forgetter
from abilities.memory.index import typeagent_index
from abilities.memory.jobs import DUE, MemoryWork
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.reading import MemoryReader
from abilities.memory.runner import MemoryRunner, MemoryUpkeep
from abilities.memory.settings import MemorySettings
from abilities.memory.store.memories import MemoryStore
from abilities.memory.talks import DUE as TALKS
from abilities.memory.talks import TalkReader
from core.db.database import Database
from core.ids import make_id
from core.people.profile import ProfileStore
from core.queue.claims import ClaimedWork
from core.queue.due import ASK_ANYWAY
from core.queue.wakeups import MEMORY, Wakeups
from core.turns.services import Recall
from onevalet.ability import Repeated
from onevalet.foundations import RecallFoundation, WorkFoundation
from onevalet.settings import Settings

SLOTS = 2
"""Few: memory is never urgent, and shares the processor with turns that people wait for."""
POLL = timedelta(seconds=3)
UPKEEP_EVERY = timedelta(seconds=30)


def load_libraries(settings: Settings) -> None:
    """Import typeagent if memory is on: later, it would stop the loop for up to a second."""
    if settings.of(MemorySettings).onevalet_memory != "off":
        typeagent_index.load()


def open_recall(stack: AsyncExitStack, foundation: RecallFoundation) -> Momex | None:
    """Create the memory; None if it is switched off. Without a model, only memories that people ask for are stored."""
    settings = foundation.settings.of(MemorySettings)
    if settings.onevalet_memory == "off":
        return None
    momex = Momex(
        config=MomexConfig(
            embedding_model=settings.onevalet_embedding_model,
            by_rules=settings.onevalet_memory == "rules",
        ),
        database=foundation.database,
        llm_client=foundation.model,
        embedding_client=foundation.embeddings,
        budgets=foundation.budgets,
        parts=MomexParts(clock=foundation.clock),
    )
    stack.push_async_callback(momex.close)
    momex.work = replace(momex.work, reads_turns=foundation.model is not None)
    return momex


def open_work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated | ClaimedWork[Any]]:
    """Return the work of memory: its jobs, its upkeep, and the reading of talks."""
    jobs = memory_work(foundation.recall, foundation.database, foundation.wakeups)
    runner = MemoryRunner(jobs, foundation.worker)
    upkeep, talks = MemoryUpkeep(jobs, foundation.clock), talk_reader(foundation, jobs)
    return [
        ClaimedWork("memory", MEMORY, DUE, runner.claim, runner.run, slots=SLOTS, poll=POLL),
        Repeated("memory upkeep", UPKEEP_EVERY, upkeep.once),
        Repeated("talks", timedelta(seconds=ASK_ANYWAY), talks.drain, TALKS),
    ]


def memory_work(momex: Recall | None, database: Database, wakeups: Wakeups) -> MemoryWork:
    """Return the jobs of a worker. If memory is off, the jobs that turns queue are only deleted."""
    if isinstance(momex, Momex):
        momex.wakeups = wakeups
        work = replace(momex.work, wakeups=wakeups)
        return (
            replace(work, later=replace(momex.adder, extractor=LaterExtractor())) if momex.adder.reads_again else work
        )
    return MemoryWork(MemoryStore(database, make_id), None, Forgetter(database, make_id), None, make_id)


def talk_reader(foundation: WorkFoundation, jobs: MemoryWork) -> TalkReader:
    """Create the reader; if the settings leave nothing to a model, it lets the rules' reading stand."""
    settings, database = foundation.settings.of(MemorySettings), foundation.database
    keeps_profile = settings.onevalet_memory == "on" and bool(foundation.settings.onevalet_model)
    return TalkReader(
        database,
        foundation.model,
        make_id,
        foundation.clock,
        MemoryReader(jobs.adder, jobs.later is not None, jobs.indexes) if jobs.adder is not None else None,
        ProfileStore(database, make_id) if keeps_profile else None,
        later=foundation.wakeups,
    )
