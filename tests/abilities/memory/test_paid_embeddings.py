"""Embeddings by a provider are paid from the budget of whoever they are made for, and words do once it is spent."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

import pytest

from abilities.memory.config import MomexConfig
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.errors import ModelUnavailable
from core.llm.prices import ModelPrice
from core.llm.types import Embeddings, TokenUsage
from tests.abilities.memory.harness import NOW, make_person, told, vector_of
from tests.clocks import StandingClock

PRICE = ModelPrice(0.01, 0.0)
LONG = "I keep the Kestrel at the old pier, next to the yellow house of the harbour master and his dog."
BOAT, CELLO = "I keep the Kestrel at the old pier.", "I play the cello in a small orchestra."


@dataclass
class PricedEmbedder:
    """A provider that bills a cent a word."""

    texts: list[str] = field(default_factory=list)
    away: bool = False
    hangs: bool = False
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def embed(self, model: str, texts: Sequence[str]) -> Embeddings:
        """Embed texts and keep them."""
        if self.away:
            raise ModelUnavailable("away")
        self.asked.set()
        if self.hangs:
            await asyncio.Event().wait()
        self.texts += texts
        words = sum(len(text.split()) for text in texts)
        return Embeddings([vector_of(text) for text in texts], TokenUsage(words, cost=words * PRICE.input))


@dataclass
class Paying:
    """A memory whose embeddings cost something, and what was spent."""

    momex: Momex
    provider: PricedEmbedder
    clock: StandingClock
    database: Database

    async def spent(self, tenant_id: str = "ann") -> Decimal:
        """Return what a person has spent, on all days."""
        return await self._sum("select coalesce(sum(spent), 0) from spending where tenant_id = $1", tenant_id)

    async def held(self, tenant_id: str = "ann") -> Decimal:
        """Return what is reserved for a person and not settled."""
        return await self._sum(
            "select coalesce(sum(amount), 0) from reservations where tenant_id = $1 and not settled", tenant_id
        )

    async def _sum(self, statement: str, tenant_id: str) -> Decimal:
        async with self.database.tenant(tenant_id) as connection:
            return Decimal(await connection.fetchval(statement, tenant_id)).normalize()


@pytest.fixture
def paying(database: Database) -> Paying:
    """Return a memory that embeds for half a dollar a day."""
    clock, provider = StandingClock(NOW), PricedEmbedder()
    momex = Momex(
        config=MomexConfig(embedding_model="openai/embedder", by_rules=True, structured=False, patience=5.0),
        database=database,
        embedding_client=provider,
        budgets=DailyBudgets(database, clock, Decimal("0.5"), (), embedding_price=PRICE),
        parts=MomexParts(clock=clock),
    )
    return Paying(momex, provider, clock, database)


async def test_adding_and_asking_are_each_charged_what_the_provider_billed(paying: Paying, database: Database) -> None:
    await make_person(database, "ann")
    await paying.momex.add_now("ann", [told(BOAT)])
    first = await paying.spent()
    assert first == Decimal(sum(len(text.split()) for text in paying.provider.texts)) / 100
    await paying.momex.search("ann", "Where is the Kestrel?")
    assert await paying.spent() == Decimal(sum(len(text.split()) for text in paying.provider.texts)) / 100 > first
    assert await paying.held() == 0


async def test_spent_money_leaves_words_until_the_next_day_embeds_it(paying: Paying, database: Database) -> None:
    await make_person(database, "ann")
    await make_person(database, "bob")
    for number in range(4):
        await paying.momex.add_now("ann", [told(f"We saw {number} seals near the lighthouse of Whitby.")])
    spent, known = await paying.spent(), len(paying.provider.texts)
    assert Decimal("0.3") < spent <= Decimal("0.5")
    await paying.momex.add_now("ann", [told(LONG)])
    assert (await paying.spent(), len(paying.provider.texts)) == (spent, known), "nothing was asked"
    recall = await paying.momex.search("ann", "Where is the Kestrel, at the pier?")
    assert [hit.memory.text for hit in recall.found][:1] == [LONG], "found by its words"
    await paying.momex.add_now("bob", [told(CELLO)])
    assert await paying.spent("bob") > 0, "another's budget is their own"
    assert await paying.momex.work.embed_again() == 0
    paying.clock.at += timedelta(days=1)
    assert await paying.momex.work.embed_again() > 0
    assert await paying.momex.store.vectors.missing("ann", "openai/embedder", 9) == {}


async def test_failed_embeddings_cost_nothing_and_ones_cut_off_what_was_held(
    paying: Paying, database: Database
) -> None:
    await make_person(database, "ann")
    paying.provider.away = True
    await paying.momex.add_now("ann", [told(BOAT)])
    assert await paying.spent() == await paying.held() == Decimal(0)
    paying.provider.away, paying.provider.hangs = False, True
    asked = asyncio.create_task(paying.momex.embedder.at_cost_of("ann").embed(["where is it"]))
    await paying.provider.asked.wait()
    assert await paying.held() > 0
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await paying.spent() > 0
    assert await paying.held() == 0


async def test_a_question_to_a_shared_collection_is_paid_by_whoever_asks(paying: Paying, database: Database) -> None:
    for name in ("ann", "bob"):
        await make_person(database, name)
    home = await paying.momex.shared.make("ann", "household:lake")
    assert await paying.momex.shared.let_in("ann", "household:lake", "bob")
    await paying.momex.add_now("ann", [told(BOAT)], collection="household:lake")
    assert await paying.spent(home) > 0
    assert await paying.spent() == 0
    before = await paying.spent(home)
    recall = await paying.momex.search("bob", "Where is the Kestrel?")
    assert [hit.memory.text for hit in recall.found] == [BOAT]
    assert await paying.spent("bob") > 0
    assert await paying.spent(home) == before
