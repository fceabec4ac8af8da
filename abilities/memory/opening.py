"""Memory as the settings configure it, and its jobs in a worker."""

from dataclasses import replace

from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from abilities.memory.config import Extraction, MomexConfig, RecallMode
from abilities.memory.extraction.extractors import LaterExtractor
from abilities.memory.extraction.ingest import may_tell
from abilities.memory.forgetting import Forgetter
from abilities.memory.jobs import MemoryWork
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.store.memories import MemoryStore
from core.queue.wakeups import Wakeups
from core.turns.services import Recall
from onevalet.demo.errands import tells_nothing
from onevalet.settings import Settings
from onevalet.wiring.extras import require_memory
from onevalet.wiring.models import Models


def build_momex(
    settings: Settings, models: Models, database: Database, clock: Clock, budgets: DailyBudgets | None = None
) -> Momex | None:
    """Create the memory; None where it is switched off. Without a configured model, rules extract the memories."""
    if settings.onevalet_memory == "off":
        return None
    require_memory(settings)
    config = MomexConfig(
        embedding_model=settings.onevalet_embedding_model,
        recall=RecallMode(settings.onevalet_recall),
        extraction=Extraction(settings.onevalet_extraction),
    )
    return Momex(
        config=config,
        database=database,
        llm_client=models.behind if settings.onevalet_model else None,
        embedding_client=models.main,
        budgets=budgets,
        parts=MomexParts(clock=clock, tells_nothing=may_tell if settings.onevalet_model else tells_nothing),
    )


def memory_work(momex: Recall | None, database: Database, wakeups: Wakeups) -> MemoryWork:
    """Return the jobs of a worker. Where memory is off, the jobs that turns queue are only deleted."""
    if isinstance(momex, Momex):
        momex.wakeups = wakeups
        if momex.adder.reads_again:
            return replace(momex.work, later=replace(momex.adder, extractor=LaterExtractor()))
        return momex.work
    return MemoryWork(MemoryStore(database, make_id), None, Forgetter(database, make_id), None, make_id)
