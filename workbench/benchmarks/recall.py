"""Recall measured: over invented lives, how often the right memory comes first, or among the first five.

    uv run -m workbench.benchmarks.recall [--lives 40] [--first 0] [--keep FOLDER] [--misses] [--write] [--model]

Each way of recalling answers the same frozen questions over the same memories: none at all, the last twenty messages,
each retriever alone, and all three fused. "Answered when unknown" is how often a memory was returned for a question
whose answer was never told. Times are of a recall with the index warm, in ms, and include embedding the question.
Offline, with the embedded encoder and the rule extractor; `--model` takes ONEVALET_MODEL and ONEVALET_EMBEDDING_MODEL,
whichever is set. `--keep` stores the memories in a folder: the next run measures at once, and continues an interrupted
run.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from abilities.memory.config import MomexConfig
from abilities.memory.index.cache import StructuredIndexes
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.types import PERSON, Kind, Utterance
from core.clock import Clock
from core.db.database import Database
from providers.models.litellm_client import LiteLLMClient
from workbench.benchmarks import recall_lives, recall_more
from workbench.benchmarks.recall_kept import kept_database
from workbench.benchmarks.recall_lives import LIVES, MESSAGES, NOW, Asked, Line, life
from workbench.benchmarks.recall_page import write_page
from workbench.benchmarks.recall_ways import Tally, Way, misses, table, ways

type Lives = Mapping[int, Sequence[Line]]
"""The messages of each life by its number."""


@dataclass(frozen=True, slots=True)
class Run:
    """The options of a run."""

    lives: range = range(LIVES)
    keep: Path | None = None
    misses: bool = False
    write: bool = False
    model: bool = False
    quick: bool = False


class Standing(Clock):
    """A clock that stands at the end of all lives."""

    def now(self) -> datetime:
        """Return that moment."""
        return NOW


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def indexes_of(momex: Momex) -> StructuredIndexes:
    """Return the structured indexes, which are on here."""
    if momex.indexes is None:
        raise RuntimeError("the structured retriever is off")
    return momex.indexes


async def live(momex: Momex, number: int, lines: Sequence[Line]) -> None:
    """Remember the messages of a life, without those remembered already."""
    tenant = f"life{number}"
    await make_person(momex.store.database, tenant)
    sources = [
        Utterance(f"{number}:{place}", line.text, PERSON, Kind.TOLD, line.said_at) for place, line in enumerate(lines)
    ]
    await momex.adder.add(tenant, "", sources)


async def make_person(database: Database, tenant: str) -> None:
    """Make a tenant."""
    async with database.tenant(tenant) as connection:
        await connection.execute("insert into tenants (tenant_id) values ($1) on conflict do nothing", tenant)


async def bulk(momex: Momex, tenant: str, sources: Sequence[Utterance]) -> None:
    """Store statements without comparing each with the known statements."""
    from abilities.memory.extraction.rules_self import EXTRACTOR, knowledge_of
    from abilities.memory.store.memories import Change
    from abilities.memory.types import Statement

    vectors = await momex.embedder.embed([source.text for source in sources])
    made = [
        Statement(source, 0, source.text, knowledge_of(source.text, PERSON), EXTRACTOR, "", vector)
        for source, vector in zip(sources, vectors, strict=True)
    ]
    await momex.store.keep(tenant, "", [(statement, Change()) for statement in made], momex.embedder.name)


def question_sets(lives: range) -> dict[str, list[Asked]]:
    """Return the frozen questions about some lives; those of lives beyond the table are invented, for tuning."""
    if lives.stop > LIVES:
        return {"to tune by": [question for number in lives for question in life(number)[1]]}
    sets = {
        "frozen": recall_lives.frozen_questions(),
        "in other words": recall_lives.frozen_questions(recall_more.FROZEN),
    }
    return {name: [statement for statement in made if statement.life in lives] for name, made in sets.items()}


async def answers(search: Way, questions: Sequence[Asked], lines: Lives) -> Tally:
    """Answer all questions in a single way."""
    tally = Tally()
    for asked in questions:
        texts, took = await search(asked, lines[asked.life])
        tally.add(asked, texts, took)
    return tally


async def compare(momex: Momex, lines: Lives, run: Run) -> dict[str, dict[str, Tally]]:
    """Remember everything, and answer every question in every way; return the tallies by questions and way."""
    began = time.monotonic()
    for number, sources in lines.items():
        await live(momex, number, sources)
    say(f"{len(lines)} lives of up to {MESSAGES} messages remembered in {time.monotonic() - began:.0f} s")
    began = time.monotonic()
    for number in lines:
        await indexes_of(momex).catch_up(f"life{number}")
    say(f"indexed in {time.monotonic() - began:.0f} s")
    tallies: dict[str, dict[str, Tally]] = {}
    for name, questions in question_sets(run.lives).items():
        tallies[name] = {}
        for search_name, ask in ways(momex, embedded_anew=not run.quick).items():
            tallies[name][search_name] = await answers(ask, questions, lines)
        say(f"\n{len(questions)} questions, {name}\n\n" + "\n".join(table(tallies[name])))
        if run.misses:
            say("\n" + "\n".join(misses(tallies[name]["fused"])))
    return tallies


@asynccontextmanager
async def memory_on(url: str, *, with_model: bool) -> AsyncIterator[Momex]:
    """Yield a memory at the end of all lives; `with_model`: with the configured models, else offline."""
    chat = os.environ.get("ONEVALET_MODEL", "") if with_model else ""
    client = LiteLLMClient(chat) if with_model else None
    database = Database(url)
    momex = Momex(
        config=MomexConfig.from_env() if with_model else MomexConfig(),
        database=database,
        llm_client=client if chat else None,
        embedding_client=client,
        parts=MomexParts(clock=Standing()),
    )
    try:
        yield momex
    finally:
        await momex.close()
        if client is not None:
            await client.close()
        await database.close()


async def main(run: Run) -> None:
    """Start a server, measure, stop it."""
    lines = {number: life(number)[0] for number in run.lives}
    async with kept_database(run.keep, run.model) as url, memory_on(url, with_model=run.model) as momex:
        await momex.embedder.embed(["warm"])
        began = time.monotonic()
        tallies = await compare(momex, lines, run)
        if run.write:
            write_page(tallies, momex.config, time.monotonic() - began)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lives", type=int, default=LIVES)
    parser.add_argument("--first", type=int, default=0, help="100: lives and questions to tune by, in no table")
    parser.add_argument("--keep", type=Path, help="a folder that keeps what was remembered")
    parser.add_argument("--misses", action="store_true", help="name the questions that the fused way missed")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/measured/recall.md")
    parser.add_argument("--model", action="store_true", help="with ONEVALET_MODEL and ONEVALET_EMBEDDING_MODEL")
    parser.add_argument("--quick", action="store_true", help="embed each question once: its times say nothing")
    given = parser.parse_args()
    lives = range(given.first, given.first + given.lives)
    asyncio.run(main(Run(lives, given.keep, given.misses, given.write, given.model, given.quick)))
