"""Memory at scale: ten thousand memories of a person, and a thousand people on a worker.

    uv run -m workbench.benchmarks.memory_scale [--memories 10000] [--people 1000] [--each 200]

Recall over a person's many memories, the index warm: each way of recalling in the same run, question by question in
turns, so that a disturbance of the machine affects all of them. The floor is an empty transaction of that person's; the
question is embedded again each time, and the time of that alone is a line of the table. Then so many people ask in
turn, twice, with room for a part of them: the memory of the process must not grow with the people.
"""

import argparse
import asyncio
import itertools
import random
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import asyncpg

from abilities.memory.config import MomexConfig
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.recall.search import Scope
from abilities.memory.types import PERSON, Kind, RetrieverKind, Utterance
from core.db.database import Database
from core.ids import make_id
from tests.services import RunServers, RunServices, fresh_database, make_template
from workbench.benchmarks.recall import Standing, bulk, indexes_of, make_person, say
from workbench.benchmarks.recall_lives import LIVES, NOW, frozen_questions, life

EACH = 3
"""One of this number of frozen questions is asked."""
STEPS = 20
"""Samples of the process's memory in each round over the people."""

type Way = Callable[[str], Awaitable[object]]


def sayings(count: int) -> list[Utterance]:
    """Return a person's messages over three years, no two of them alike."""
    plain = [line.text for number in range(LIVES) for line in life(number)[0]]
    random.Random(1).shuffle(plain)
    return [
        Utterance(f"large:{n}", f"{plain[n % len(plain)]} Entry {n}.", PERSON, Kind.TOLD, moment(n, count))
        for n in range(count)
    ]


def moment(number: int, count: int) -> datetime:
    """Return the time of a message by its number: all are spread over 1,000 days."""
    return NOW - timedelta(days=1000 * (count - number) / count)


async def keep(momex: Momex, tenant: str, sources: list[Utterance]) -> None:
    """Remember a person's messages."""
    await make_person(momex.store.database, tenant)
    for start in range(0, len(sources), 500):
        await bulk(momex, tenant, sources[start : start + 500])


def ways(momex: Momex, tenant: str) -> dict[str, Way]:
    """Return the compared ways."""
    patient = replace(momex.retriever, config=replace(momex.config, patience=30.0))

    async def floor(question: str) -> object:
        return await momex.store.version(tenant)

    async def embed(question: str) -> object:
        return await momex.embedder.embed([question])

    def by(*kinds: RetrieverKind) -> Way:
        retriever = replace(patient, kinds=frozenset(kinds))

        async def search(question: str) -> object:
            return await retriever.search(Scope(tenant), question, NOW)

        return search

    return {
        "an empty transaction": floor,
        "embedding the question": embed,
        "full text alone": by(RetrieverKind.TEXT),
        "pgvector alone": by(RetrieverKind.VECTOR),
        "typeagent alone": by(RetrieverKind.STRUCTURED),
        "fused": by(*RetrieverKind),
        "as a turn asks": lambda question: momex.search(tenant, question),
    }


async def large(momex: Momex, count: int, tenant: str = "large") -> None:
    """Print the time of a recall over a person's many memories."""
    began = time.monotonic()
    await keep(momex, tenant, sayings(count))
    say(f"{count} memories of one person kept in {time.monotonic() - began:.0f} s")
    await compare(momex, count, tenant)


async def compare(momex: Momex, count: int, tenant: str) -> None:
    """Print the table of a person whose memories are stored."""
    began, cpu = time.monotonic(), time.process_time()
    await indexes_of(momex).catch_up(tenant)
    say(f"index of {count} made cold in {time.monotonic() - began:.1f} s ({time.process_time() - cpu:.1f} s of CPU)\n")
    compared = ways(momex, tenant)
    times: dict[str, list[float]] = {name: [] for name in compared}
    late = 0
    questions = frozen_questions()[::EACH]
    for asked in questions:
        for name, search in compared.items():
            momex.embedder.clear()
            began = time.monotonic()
            texts = await search(asked.text)
            times[name].append((time.monotonic() - began) * 1000)
            late += name == "as a turn asks" and any(report.missed for report in getattr(texts, "reports", ()))
    say("| way | p50 ms | p95 ms | most ms |\n|---|---|---|---|")
    for name, took in times.items():
        took.sort()
        say(f"| {name} | {statistics.median(took):.1f} | {took[int(len(took) * 0.95)]:.1f} | {took[-1]:.1f} |")
    say(f"\n{len(questions)} questions; in {late} of them a retriever was late\n")


def resident() -> float:
    """Return this process's memory in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


async def many(momex: Momex, url: str, people: int, each: int) -> None:
    """Print the cost of a number of people on a worker."""
    await keep(momex, "many0", sayings(each))
    await copies(url, people)
    indexes = indexes_of(momex)
    before = resident()
    say(
        f"{people} people with {each} memories each; room for {momex.config.index_people} people"
        f" or {momex.config.index_memories} memories; {before:.0f} MB before\n"
    )
    say("| round | people asked | indexes held | memories held | MB | made p50 ms | asked again p50 ms |")
    say("|---|---|---|---|---|---|---|")
    for turn in (1, 2):
        for some in itertools.batched(range(people), max(people // STEPS, 1)):
            made, again = [], []
            for number in some:
                tenant = f"many{number}"
                began = time.monotonic()
                await indexes.catch_up(tenant)
                made.append((time.monotonic() - began) * 1000)
                began = time.monotonic()
                await momex.search(tenant, "Where do I live?")
                again.append((time.monotonic() - began) * 1000)
            held = indexes.held
            say(
                f"| {turn} | {some[-1] + 1} | {len(held)} | {sum(held.values())} | {resident():.0f}"
                f" | {statistics.median(made):.0f} | {statistics.median(again):.0f} |"
            )


async def copies(url: str, people: int) -> None:
    """Copy the first person's memories to all others."""
    connection = await asyncpg.connect(url)
    for number in range(1, people):
        who = f"many{number}"
        await connection.execute("insert into tenants (tenant_id) values ($1)", who)
        for table in ("memory_versions", "memories", "memory_vectors", "memory_terms"):
            names = await connection.fetch(
                "select attname::text from pg_attribute where attrelid = $1::text::regclass and attnum > 0"
                " and not attisdropped and attgenerated = '' and attname <> 'tenant_id'",
                table,
            )
            columns = ", ".join(row["attname"] for row in names)
            await connection.execute(
                f"insert into {table} (tenant_id, {columns}) select $1, {columns} from {table}"  # noqa: S608
                " where tenant_id = 'many0'",
                who,
            )
    await connection.close()


async def measure(url: str, memories: int, people: int, each: int) -> None:
    """Measure both on the same database."""
    database = Database(url)
    momex = Momex(config=MomexConfig(), database=database, parts=MomexParts(clock=Standing()))
    await momex.embedder.embed(["warm"])
    if memories:
        await large(momex, memories)
        await indexes_of(momex).drop("large")
    if people:
        await many(momex, url, people, each)
    await momex.close()
    await database.close()


async def on_fresh_database(services: RunServices, memories: int, people: int, each: int) -> None:
    """Measure on a database of its own."""
    await make_template(services)
    async with fresh_database(services, f"scale_{make_id('db')}") as url:
        await measure(url, memories, people, each)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--each", type=int, default=200)
    given = parser.parse_args()
    servers = RunServers()
    try:
        asyncio.run(on_fresh_database(servers.start(), given.memories, given.people, given.each))
    finally:
        servers.stop()
