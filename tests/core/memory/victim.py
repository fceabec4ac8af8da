"""A process that adds and catches up until it is killed: `python -m tests.core.memory.victim URL COUNT`."""

import asyncio
import sys

from core.database import Database
from core.ids import make_id
from core.memory.adding import Adder
from core.memory.extract import RuleExtractor
from core.memory.store import MemoryStore
from tests.core.memory.house import WordEmbedder, made_life


async def main(url: str, count: int) -> None:
    """Add a life, a message at a time, and say how far it came."""
    database = Database(url)
    adder = Adder(MemoryStore(database, make_id), WordEmbedder(), RuleExtractor())
    for number, said in enumerate(made_life(count)):
        await adder.add("ann", "", [said])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
