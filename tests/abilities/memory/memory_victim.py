"""A worker that does one job of memory and never ends it: `python -m tests.abilities.memory.memory_victim URL`."""

import asyncio
import sys

from abilities.memory.runner import MemoryRunner
from core.db.database import Database
from tests.abilities.memory.test_memory_leases import HeldEmbedder, held_momex


async def main(url: str) -> None:
    """Say when the job is being done, and wait to be killed."""
    embedder = HeldEmbedder()
    runner = MemoryRunner(held_momex(Database(url), embedder).work, "victim")
    job = await runner.claim(None)
    assert job is not None
    doing = asyncio.create_task(runner.run(job))
    await embedder.begun.wait()
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    await doing


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
