"""Memory in a process without a model, which `web` does not load: the console corrects and forgets, programs search."""

from collections.abc import Callable

from abilities.memory.config import MomexConfig
from abilities.memory.extraction.extractors import RuleExtractor
from abilities.memory.index.embedder import SentenceEncoder
from abilities.memory.index.left_to_workers import LeftToWorkers
from abilities.memory.long_term import LongTermMemory, MomexParts
from abilities.memory.settings import MemorySettings
from abilities.memory.tools_api import TenantMemory
from core.clock import Clock
from core.tools.memory_access import MemoryAccess
from onevalet.foundations import Foundation


def open_memories(foundation: Foundation, clock: Clock) -> Callable[[str], MemoryAccess] | None:
    """Return the opener of people's memories without a model; None if memory is off.

    Corrections by people here are read by rules, and workers make their vectors.
    """
    settings = foundation.settings.of(MemorySettings)
    if settings.onevalet_memory == "off":
        return None
    memory = LongTermMemory.build(
        "",
        MomexConfig(embedding_model=settings.onevalet_embedding_model, structured=False),
        foundation.database,
        LeftToWorkers(settings.onevalet_embedding_model or SentenceEncoder.name),
        RuleExtractor(),
        MomexParts(clock=clock),
    )
    return lambda tenant_id: TenantMemory(memory, tenant_id)
