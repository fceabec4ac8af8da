"""Recall measured: over made lives, how often the right memory comes first, or among the first five.

    uv run -m benchmarks.recall [--lives 40] [--large 10000] [--people 1000]

Offline: the embedded encoder and the rule extractor. Each way of recalling answers the same frozen questions over the
same memories: none at all, the last twenty messages, each leg alone, and all three fused. "Answered when unknown" is
how often something was brought up for a question that nothing was ever said about. Times are of one recall with the
index warm, in milliseconds, and include embedding the question.
"""

import argparse
import asyncio
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from benchmarks.recall_lives import LIVES, MESSAGES, NOW, Asked, Line, frozen_questions, life
from core.clock import Clock
from core.context_manager import estimate_tokens
from core.database import Database
from core.ids import make_id
from core.memory.config import MomexConfig
from core.memory.indexes import StructuredIndexes
from core.memory.momex import Momex
from core.memory.recall import Scope
from core.memory.types import PERSON, Kind, Leg, Said
from core.model_types import ChatMessage, Role
from tests.services import RunServers, RunServices, fresh_database, make_template

type Way = Callable[[Asked, Sequence[Line]], Awaitable[tuple[list[str], float]]]


class Standing(Clock):
    """A clock that stands at the end of all lives."""

    def now(self) -> datetime:
        """Give that moment."""
        return NOW


@dataclass(slots=True)
class Tally:
    """What one way of recalling came to."""

    first: dict[str, list[bool]] = field(default_factory=dict)
    five: dict[str, list[bool]] = field(default_factory=dict)
    stale: list[bool] = field(default_factory=list)
    unknown: list[bool] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def count(self, asked: Asked, texts: Sequence[str], took: float) -> None:
        """Count one answer."""
        self.times.append(took * 1000)
        self.tokens.append(sum(estimate_tokens((ChatMessage(Role.USER, one),)) for one in texts))
        if asked.kind == "unknown":
            self.unknown.append(bool(texts))
            return
        right = [asked.answer.lower() in text.lower() for text in texts]
        self.first.setdefault(asked.kind, []).append(any(right[:1]))
        self.five.setdefault(asked.kind, []).append(any(right[:5]))
        if asked.stale:
            self.stale.append(any(asked.stale.lower() in text.lower() for text in texts[:5]))

    def row(self, name: str) -> str:
        """Write it as a line of a table."""
        first = [one for kind in self.first.values() for one in kind]
        five = [one for kind in self.five.values() for one in kind]
        kinds = " | ".join(f"{share(self.five[kind])}" for kind in ("paraphrase", "time", "contradiction", "two-hop"))
        times = sorted(self.times)
        return (
            f"| {name} | {share(first)} | {share(five)} | {kinds} | {share(self.stale)} | {share(self.unknown)} |"
            f" {statistics.mean(self.tokens):.0f} | {statistics.median(times):.0f}"
            f" | {times[int(len(times) * 0.95)]:.0f} |"
        )


HEAD = (
    "| way | hit@1 | hit@5 | paraphrase | time | contradiction | two-hop | stale in 5 | answered when unknown | tokens"
    " | p50 ms | p95 ms |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def share(values: Sequence[bool]) -> str:
    """Write how many of them are true."""
    return f"{100 * sum(values) / len(values):.0f} %" if values else "-"


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def indexes_of(momex: Momex) -> StructuredIndexes:
    """Give the structured indexes, which are on here."""
    if momex.indexes is None:
        raise RuntimeError("the structured leg is off")
    return momex.indexes


async def live(momex: Momex, number: int) -> list[Line]:
    """Have one life remembered; gives its messages."""
    lines, _ = life(number)
    tenant = f"life{number}"
    await make_person(momex.store.database, tenant)
    said = [Said(f"{number}:{place}", one.text, PERSON, Kind.TOLD, one.said_at) for place, one in enumerate(lines)]
    await momex.adder.add(tenant, "", said)
    return lines


async def make_person(database: Database, tenant: str) -> None:
    """Make a tenant."""
    async with database.tenant(tenant) as connection:
        await connection.execute("insert into tenants (tenant_id) values ($1)", tenant)


def ways(momex: Momex) -> dict[str, Way]:
    """Give every way of recalling that is compared."""
    patient = replace(momex.searcher, config=replace(momex.config, patience=30.0))

    async def nothing(asked: Asked, lines: Sequence[Line]) -> tuple[list[str], float]:
        return [], 0.0

    async def last(asked: Asked, lines: Sequence[Line]) -> tuple[list[str], float]:
        return [line.text for line in reversed(lines[-20:])], 0.0

    def by(legs: frozenset[Leg]) -> Way:
        searcher = replace(patient, legs=legs)

        async def search(asked: Asked, lines: Sequence[Line]) -> tuple[list[str], float]:
            momex.embedder.clear()
            began = time.monotonic()
            recall = await searcher.search(Scope(f"life{asked.life}"), asked.text, NOW)
            return recall.lines(), time.monotonic() - began  # type: ignore[return-value]

        return search

    return {
        "no memory": nothing,
        "last 20 messages": last,
        "pgvector only": by(frozenset({Leg.VECTOR})),
        "full text only": by(frozenset({Leg.TEXT})),
        "typeagent only": by(frozenset({Leg.STRUCTURED})),
        "fused without typeagent": by(frozenset({Leg.TEXT, Leg.VECTOR})),
        "fused": by(frozenset(Leg)),
    }


async def compare(momex: Momex, lives: int, first: int) -> None:
    """Print the table over so many lives, from the first on."""
    began = time.monotonic()
    lines = {number: await live(momex, number) for number in range(first, first + lives)}
    say(f"{lives} lives of {MESSAGES} messages remembered in {time.monotonic() - began:.0f} s")
    for number in lines:
        await indexes_of(momex).catch_up(f"life{number}")
    made = frozen_questions() if first + lives <= LIVES else [one for number in lines for one in life(number)[1]]
    questions = [one for one in made if one.life in lines]
    say(f"{len(questions)} questions\n\n{HEAD}")
    for name, way in ways(momex).items():
        tally = Tally()
        for asked in questions:
            tally.count(asked, *await way(asked, lines[asked.life]))
        say(tally.row(name))


async def large(momex: Momex, count: int) -> None:
    """Print how long a recall takes over one person's many memories, the index warm."""
    await make_person(momex.store.database, "large")
    plain = [line.text for number in range(LIVES) for line in life(number)[0]]
    said = [Said(f"large:{n}", f"{plain[n % len(plain)]} Entry {n}.", PERSON, Kind.TOLD, NOW) for n in range(count)]
    began = time.monotonic()
    for start in range(0, count, 500):
        await bulk(momex, "large", said[start : start + 500])
    say(f"\n{count} memories of one person kept in {time.monotonic() - began:.0f} s")
    began = time.monotonic()
    await indexes_of(momex).catch_up("large")
    say(f"index made in {time.monotonic() - began:.1f} s")
    searcher = replace(momex.searcher, config=replace(momex.config, patience=30.0))
    times, legs = [], {leg: [0.0] for leg in Leg}
    for asked in frozen_questions():
        momex.embedder.clear()
        began = time.monotonic()
        recall = await searcher.search(Scope("large"), asked.text, NOW)
        times.append((time.monotonic() - began) * 1000)
        for one in recall.legs:
            legs[one.leg].append(one.took_ms)
    times.sort()
    each = ", ".join(f"{leg} {statistics.median(took):.0f}" for leg, took in legs.items())
    say(f"recall p50 {statistics.median(times):.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms; legs p50: {each}")


async def bulk(momex: Momex, tenant: str, said: Sequence[Said]) -> None:
    """Keep statements without comparing each with what is known."""
    from core.memory.rules import EXTRACTOR, knowledge_of
    from core.memory.store import Change
    from core.memory.terms import terms_of
    from core.memory.types import Statement

    vectors = await momex.embedder.embed([one.text for one in said])
    made = [
        Statement(one, 0, one.text, knowledge_of(one.text, PERSON), EXTRACTOR, "", vector)
        for one, vector in zip(said, vectors, strict=True)
    ]
    terms = sorted({term for one in made for term in terms_of(one.knowledge)})
    known = await momex.store.terms(tenant, momex.embedder.name, terms)
    new = [term for term in terms if term not in known]
    pairs = dict(zip(new, await momex.embedder.embed(new), strict=True)) if new else {}
    await momex.store.keep(tenant, "", [(one, Change()) for one in made], momex.embedder.name, pairs)


async def many(momex: Momex, people: int) -> None:
    """Print what so many people on one worker take, each with twenty memories and one recall."""
    texts = [line.text for line in life(0)[0][:20]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    for number in range(people):
        tenant = f"many{number}"
        await make_person(momex.store.database, tenant)
        await bulk(momex, tenant, [Said(f"{number}:{n}", text, PERSON, Kind.TOLD, NOW) for n, text in enumerate(texts)])
        await indexes_of(momex).catch_up(tenant)
        await momex.search(tenant, "Where do I live?")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    say(
        f"\n{people} people with 20 memories each: {time.monotonic() - began:.0f} s,"
        f" {len(indexes_of(momex).held)} indexes held,"
        f" peak memory {before / 1024:.0f} MB before and {after / 1024:.0f} MB after"
    )


async def measure(url: str, lives: int, memories: int, people: int, first: int) -> None:
    """Measure all of it on one database."""
    database = Database(url)
    momex = Momex(config=MomexConfig(), database=database, clock=Standing())
    await momex.embedder.embed(["warm"])
    if lives:
        await compare(momex, lives, first)
    if memories:
        await large(momex, memories)
    if people:
        await many(momex, people)
    await momex.close()
    await database.close()


async def on_fresh_database(services: RunServices, lives: int, memories: int, people: int, first: int) -> None:
    """Measure on a database of its own."""
    await make_template(services)
    async with fresh_database(services, f"recall_{make_id('db')}") as url:
        await measure(url, lives, memories, people, first)


def main(lives: int, memories: int, people: int, first: int) -> None:
    """Start a server, measure, stop it."""
    servers = RunServers()
    services = servers.start()
    try:
        asyncio.run(on_fresh_database(services, lives, memories, people, first))
    finally:
        servers.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lives", type=int, default=LIVES)
    parser.add_argument("--large", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="100: lives and questions to tune by, in no table")
    given = parser.parse_args()
    main(given.lives, given.large, given.people, given.first)
