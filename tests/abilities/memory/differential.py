"""The same messages and the same knowledge in typeagent's own SQLite and in ours give the same results.

`uv run -m tests.abilities.memory.differential URL` compares 300 queries over 120 made messages on a migrated database;
the suite runs a short form.
"""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy
import typechat
from pydantic import TypeAdapter
from typeagent.aitools.embeddings import CachingEmbeddingModel
from typeagent.knowpro import search
from typeagent.knowpro.convsettings import ConversationSettings
from typeagent.knowpro.factory import create_conversation
from typeagent.knowpro.interfaces import PropertySearchTerm, SearchTerm, SearchTermGroup, Term, WhenFilter
from typeagent.knowpro.interfaces_core import DateRange
from typeagent.knowpro.knowledge_schema import KnowledgeResponse
from typeagent.knowpro.universal_message import ConversationMessage, ConversationMessageMeta

from abilities.memory.extraction.terms import terms_of
from abilities.memory.index.cache import BATCH
from abilities.memory.index.embedder import normalised
from abilities.memory.index.typeagent_index import RELATED, PersonIndex
from abilities.memory.momex import Momex
from abilities.memory.store.memories import Change
from abilities.memory.types import PERSON, Kind, Statement, Utterance, Vector
from core.db.database import Database
from core.json_types import Json, JsonObject
from tests.abilities.memory.harness import NOW, make_momex, make_person, vector_of

NAMES = ["Ann", "Bo Díaz", "Lake Vänern", "the red bike", "Lisbon", "Mrs Okafor", "Näs", "jazz band"]
PROPERTIES = ["name", "type", "verb", "subject", "object", "indirectObject", "topic"]
TYPES = ["person", "place", "thing", "music group"]
VERBS = ["buy", "visit", "call back", "sell", "paint"]
TOPICS = ["holiday plans", "music", "bike repairs", "old friends", "cooking soup", "the garden", "running"]


def made_vector(text: str) -> Vector:
    """Return a text a vector near to those of texts with the same words, and equal to none: ties have no order."""
    chance = random.Random(text)
    return normalised([coordinate + chance.uniform(-0.02, 0.02) for coordinate in vector_of(text)])


def made_knowledge(chance: random.Random) -> JsonObject:
    """Make knowledge with everything that the schema has."""

    def facet() -> JsonObject:
        value: Any = chance.choice(
            ["blue", "old", True, 4.5, {"amount": 3, "units": "kg"}, {"amount": "many", "units": "km"}]
        )
        return {"name": chance.choice(["colour", "age", "weight"]), "value": value}

    def action() -> JsonObject:
        bus: list[Json] = [{"name": "how", "value": "by bus"}, {"name": "often", "value": 2}]
        some: list[Json] = [None, ["slowly"], bus]
        verbs: list[Json] = [*chance.sample(VERBS, chance.randint(1, 2))]
        return {
            "verbs": verbs,
            "verbTense": chance.choice(["past", "present", "future"]),
            "subjectEntityName": chance.choice([*NAMES, "none"]),
            "objectEntityName": chance.choice([*NAMES, "none"]),
            "indirectObjectEntityName": chance.choice([*NAMES, "none", "none"]),
            "params": chance.choice(some),
            "subjectEntityFacet": chance.choice([None, facet()]),
        }

    def entity() -> JsonObject:
        kinds: list[Json] = [*chance.sample(TYPES, chance.randint(1, 2))]
        facets: list[Json] = [None, [facet()], [facet(), facet()]]
        return {"name": chance.choice(NAMES), "type": kinds, "facets": chance.choice(facets)}

    topics: list[Json] = [*chance.sample(TOPICS, chance.randint(0, 3))]
    return {
        "entities": [entity() for _ in range(chance.randint(0, 3))],
        "actions": [action() for _ in range(chance.randint(0, 2))],
        "inverse_actions": [action() for _ in range(chance.randint(0, 1))],
        "topics": topics,
    }


def made_statements(chance: random.Random, count: int) -> list[Statement]:
    """Make messages in the order of their time; some texts come twice."""
    made = []
    for number in range(count):
        name = number if chance.random() < 0.9 else "again"
        text = f"Message {name} about {chance.choice(TOPICS)} and {chance.choice(NAMES)}"
        speaker = chance.choice([PERSON, "assistant"])
        source = Utterance(f"d:{number}", text, speaker, Kind.TOLD, NOW - timedelta(hours=(count - number) * 7))
        made.append(Statement(source, 0, text, made_knowledge(chance), "made", "", made_vector(text)))
    return made


def made_query(chance: random.Random) -> tuple[SearchTermGroup, WhenFilter | None, search.SearchOptions]:
    """Make a structured query of any kind."""
    return made_group(chance, 2), made_filter(chance), search.SearchOptions(
        exact_match=chance.random() < 0.5,
        max_message_matches=chance.choice([None, 5, 20]),
        max_knowledge_matches=chance.choice([None, 10]),
    )  # fmt: skip


def made_group(chance: random.Random, depth: int) -> SearchTermGroup:
    """Make a group of terms, of properties, and of further groups."""
    words = [*NAMES, *TYPES, *VERBS, *TOPICS, "blue", "colour", "bike", "friends", "unheard of"]
    terms: list[Any] = []
    for _ in range(chance.randint(1, 3)):
        kind = chance.random()
        if kind < 0.2 and depth:
            terms.append(made_group(chance, depth - 1))
        elif kind < 0.5:
            facet = SearchTerm(Term(chance.choice(["colour", "age", "weight"])))
            name: Any = chance.choice([*PROPERTIES, facet])
            terms.append(PropertySearchTerm(name, SearchTerm(Term(chance.choice(words)))))
        else:
            terms.append(SearchTerm(Term(chance.choice(words))))
    return SearchTermGroup(boolean_op=chance.choice(["and", "or", "or_max"]), terms=terms)


def made_filter(chance: random.Random) -> WhenFilter | None:
    """Make a filter by time or by kind, or none."""
    kind = chance.random()
    if kind < 0.6:
        return None
    start = NOW - timedelta(hours=chance.randint(0, 900))
    if kind < 0.8:
        return WhenFilter(date_range=DateRange(start, start + timedelta(hours=200)))
    return WhenFilter(knowledge_type=chance.choice(["entity", "action", "topic"]))


class Given:
    """An embedder and an extractor of typeagent's own kind, over what was made."""

    model_name = "words"

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._knowledge: dict[str, list[JsonObject]] = {}
        for statement in statements:
            self._knowledge.setdefault(statement.text, []).append(statement.knowledge)

    async def get_embedding_nocache(self, input: str) -> Any:
        """Embed one."""
        return numpy.array(made_vector(input), dtype=numpy.float32)

    async def get_embeddings_nocache(self, input: list[str]) -> Any:
        """Embed some."""
        return numpy.array([made_vector(text) for text in input], dtype=numpy.float32)

    async def extract(self, message: str) -> Any:
        """Return what was made."""
        return typechat.Success(TypeAdapter(KnowledgeResponse).validate_python(self._knowledge[message].pop(0)))


async def their_conversation(path: Path, statements: Sequence[Statement]) -> Any:
    """Load the messages into a SQLite conversation as typeagent makes it."""
    given = Given(statements)
    settings = ConversationSettings(CachingEmbeddingModel(given))
    settings.semantic_ref_index_settings.knowledge_extractor = given
    settings.semantic_ref_index_settings.concurrency = 1
    settings.related_term_index_settings.embedding_index_settings.min_score = RELATED
    settings.message_text_index_settings.embedding_index_settings.min_score = RELATED
    conversation = await create_conversation(str(path), ConversationMessage, name="theirs", settings=settings)

    async def messages() -> AsyncIterator[ConversationMessage]:
        for statement in statements:
            speaker = None if statement.said.speaker == PERSON else statement.said.speaker
            yield ConversationMessage(
                text_chunks=[statement.text],
                metadata=ConversationMessageMeta(speaker=speaker),
                timestamp=f"{statement.said.said_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
                source_id=statement.key,
            )

    await conversation.add_messages_streaming(messages(), batch_size=BATCH)
    return conversation


async def our_index(momex: Momex, statements: Sequence[Statement]) -> PersonIndex:
    """Keep the messages in Postgres, some of them to be forgotten in between, and let an index catch up in steps."""
    assert momex.indexes is not None
    half = len(statements) // 2
    source = Utterance("passing", "gone", PERSON, Kind.TOLD, NOW)
    passing = Statement(source, 0, "gone", made_knowledge(random.Random(9)), "made", "", made_vector("gone"))
    for part in (statements[:half], [passing], statements[half:]):
        terms = {term for statement in part for term in terms_of(statement.knowledge)}
        changes = [(statement, Change()) for statement in part]
        await momex.store.keep("ann", "", changes, "words")
        vectors, epoch = {term: made_vector(term) for term in terms}, (await momex.store.version("ann")).epoch
        await momex.store.vectors.add_terms("ann", "words", vectors, epoch)
        await momex.indexes.catch_up("ann")
    [gone] = await momex.store.containing("ann", "gone")
    asked = await momex.long_term.forgetter.ask("ann", [gone], "", "", NOW, gone.number)
    await momex.long_term.forgetter.confirm("ann", asked.id, NOW)
    await momex.indexes.catch_up("ann")
    return momex.indexes._entries["ann"].index


async def compare(database: Database, folder: Path, *, messages: int, queries: int, seed: int) -> int:
    """Ask both the same; return how many queries found anything. Raises `AssertionError` where they differ."""
    chance = random.Random(seed)
    statements = made_statements(chance, messages)
    await make_person(database, "ann")
    momex = make_momex(database, structured=True)
    count = 0
    try:
        theirs = await their_conversation(folder / "theirs.db", statements)
        ours = await our_index(momex, statements)
        known = {word: made_vector(word.lower()) for word in _all_words(statements)}
        for _ in range(queries):
            state = chance.getstate()
            expected = await search.search_conversation(theirs, *made_query(chance))
            chance.setstate(state)
            assert momex.indexes is not None
            query = made_query(chance)
            got = await momex.indexes._thread.run(_ask(ours, query, known))
            assert _told(got) == _told(expected), (query, _told(got), _told(expected))
            count += bool(expected and expected.message_matches)
        await theirs.storage_provider.close()
    finally:
        await momex.close()
    return count


async def _ask(index: PersonIndex, query: tuple[Any, Any, Any], known: dict[str, Any]) -> Any:
    index._models.give((), known)
    return await index.run(*query)


def _all_words(statements: Sequence[Statement]) -> set[str]:
    words = [*NAMES, *TYPES, *VERBS, *TOPICS, "blue", "colour", "bike", "friends", "unheard of"]
    return {word.lower() for word in words} | {
        term for statement in statements for term in terms_of(statement.knowledge)
    }


def _told(result: Any) -> tuple[list[tuple[int, float]], dict[str, list[tuple[int, float]]]]:
    """Return what a result says; the order of equals is nobody's promise."""
    if result is None:
        return [], {}
    messages = sorted((match.message_ordinal, round(match.score, 2)) for match in result.message_matches)
    knowledge = {
        kind: sorted((match.semantic_ref_ordinal, round(match.score, 2)) for match in matches.semantic_ref_matches)
        for kind, matches in result.knowledge_matches.items()
    }
    return messages, knowledge


async def main(url: str) -> None:
    """Run the long form."""
    database = Database(url)
    with TemporaryDirectory() as folder:
        findings = await compare(database, Path(folder), messages=120, queries=300, seed=1)
    await database.close()
    sys.stdout.write(f"300 queries, {findings} found something, none differed\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
