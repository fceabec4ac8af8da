"""Adds until it is killed; with COUNT 0, indexes instead: `python -m tests.abilities.memory.victim URL COUNT`."""

import asyncio
import sys

from abilities.memory.extraction.extractors import RuleExtractor
from abilities.memory.extraction.ingest import Adder
from abilities.memory.index.typeagent_index import load
from abilities.memory.store.memories import MemoryStore
from core.db.database import Database
from core.ids import make_id
from tests.abilities.memory.harness import WordEmbedder, made_life, make_momex


async def main(url: str, count: int) -> None:
    """Add a life, a message at a time, and say how far it came."""
    database = Database(url)
    adder = Adder(MemoryStore(database, make_id), WordEmbedder(), RuleExtractor())
    for number, text in enumerate(made_life(count)):
        await adder.add("ann", "", [text])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


async def index(url: str) -> None:
    """Build Ann's index again and again, and say so before each time."""
    momex = make_momex(Database(url), structured=True)
    assert momex.indexes is not None
    load()
    while True:
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        await momex.indexes.catch_up("ann")
        await momex.indexes.drop("ann")


if __name__ == "__main__":
    count = int(sys.argv[2])
    asyncio.run(main(sys.argv[1], count) if count else index(sys.argv[1]))
