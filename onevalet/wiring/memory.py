"""Memory as the settings configure it, and its jobs in a worker."""

from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.llm.litellm_client import LiteLLMClient
from core.memory.config import Extraction, MomexConfig, RecallMode
from core.memory.forgetting import Forgetter
from core.memory.jobs import MemoryWork
from core.memory.long_term import MomexParts
from core.memory.momex import Momex
from core.memory.store.memories import MemoryStore
from core.queue.wakeups import Wakeups
from core.turns.services import Recall
from onevalet.settings import Settings


def build_momex(
    settings: Settings, client: LiteLLMClient, database: Database, clock: Clock, budgets: DailyBudgets | None = None
) -> Momex | None:
    """Create the memory; None where it is switched off. Without a configured model, rules extract the memories."""
    if settings.onevalet_memory == "off":
        return None
    config = MomexConfig(
        embedding_model=settings.onevalet_embedding_model,
        recall=RecallMode(settings.onevalet_recall),
        extraction=Extraction(settings.onevalet_extraction),
    )
    return Momex(
        config=config,
        database=database,
        llm_client=client if settings.onevalet_model else None,
        embedding_client=client,
        budgets=budgets,
        parts=MomexParts(clock=clock),
    )


def memory_work(momex: Recall | None, database: Database, wakeups: Wakeups) -> MemoryWork:
    """Return the jobs of a worker. Where memory is off, the jobs that turns queue are only deleted."""
    if isinstance(momex, Momex):
        momex.wakeups = wakeups
        return momex.work
    return MemoryWork(MemoryStore(database, make_id), None, Forgetter(database, make_id), None, make_id)
