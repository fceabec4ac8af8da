"""An embedder for processes that load no encoder: workers make the vectors later, until then words find a memory."""

from collections.abc import Sequence

from abilities.memory.index.embedder import SentenceEncoder
from abilities.memory.types import Vector
from core.errors import ModelError


class LeftToWorkers:
    """Make no vector. `name`: the embedder of the workers."""

    floor = SentenceEncoder.floor
    sure = SentenceEncoder.sure

    def __init__(self, name: str) -> None:
        self.name = name

    def at_cost_of(self, tenant_id: str) -> "LeftToWorkers":
        return self

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise ModelError("workers embed this later")
