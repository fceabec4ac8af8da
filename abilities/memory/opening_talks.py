"""The reader of what people said, as the settings configure it."""

from datetime import timedelta

from core.budgets.budgeted_model import BudgetedModel
from core.ids import make_id
from abilities.memory.jobs import MemoryWork
from abilities.memory.reading import MemoryReader
from core.people.profile import ProfileStore
from abilities.memory.talks import Gathering, TalkReader
from onevalet.wiring.worker_parts import WorkerParts


def build_talk_reader(parts: WorkerParts, memory: MemoryWork) -> TalkReader:
    """Create the reader; where the settings leave nothing to a model, it lets the rules' reading stand."""
    settings, database, assistant = parts.connections.settings, parts.connections.database, parts.assistant
    keeps_profile = settings.onevalet_profile == "model" and bool(settings.onevalet_model)
    pause = timedelta(seconds=settings.onevalet_memory_pause)
    return TalkReader(
        database,
        BudgetedModel(assistant.small_model, database, assistant.orchestrator.budgets),
        make_id,
        parts.clock,
        MemoryReader(memory.adder, by_model=memory.later is not None) if memory.adder is not None else None,
        ProfileStore(database, make_id) if keeps_profile else None,
        Gathering(pause, settings.onevalet_memory_messages),
    )
