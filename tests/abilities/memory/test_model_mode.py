"""Model mode against a server that speaks as OpenAI does: right requests, and nothing lost whatever it answers."""

from collections.abc import AsyncIterator
from decimal import Decimal

import pytest

from abilities.memory import jobs as work
from abilities.memory import model_calls as asking
from abilities.memory.commands import answer_memory
from abilities.memory.config import MomexConfig
from abilities.memory.extraction.extractors import STOOD_IN
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.llm.prices import ModelPrice
from core.llm.types import ChatMessage, Role
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.memory.harness import NOW, everything, holding, make_person, told
from tests.clocks import StandingClock
from tests.scripted_model import ModelCall, Reply, ScriptedModel, error, hang, malformed, text

KNOWLEDGE = (
    '{"entities": [{"name": "Kestrel", "type": ["boat"]}], "actions": [], "inverse_actions": [], "topics": ["x"]}'
)
BROKEN: dict[str, Reply] = {
    "429": error(429, retry_after=1),
    "malformed": malformed(),
    "no json": text("I'd rather not."),
    "wrong json": text('{"replaces": "all", "entities": 7}'),
    "late": hang(20),
}

pytestmark = [pytest.mark.xdist_group("typeagent"), pytest.mark.whole("it loads typeagent")]


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedModel]:
    """Serve a model that reads a boat in everything, and finds that the first candidate ended."""
    async with ScriptedModel(answer) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        yield server


@pytest.fixture
async def client(model: ScriptedModel) -> AsyncIterator[LiteLLMClient]:
    """Yield the real client."""
    made = LiteLLMClient("openai/scripted")
    await made.warm_up()
    yield made
    await made.close()


def answer(call: ModelCall) -> Reply:
    """Answer either question."""
    return text('{"replaces": [1], "repeats": 0}' if "Which of the earlier ones" in call.last_user else KNOWLEDGE)


def with_model(client: LiteLLMClient, database: Database, budgets: DailyBudgets | None = None) -> Momex:
    """Make a memory that reads and embeds through the client."""
    config = MomexConfig(embedding_model="openai/embedder", structured=False, patience=5.0)
    return Momex(
        config=config,
        database=database,
        llm_client=client,
        embedding_client=client,
        budgets=budgets,
        parts=MomexParts(clock=StandingClock(NOW)),
    )


async def test_a_model_reads_decides_and_embeds_with_the_right_requests(
    model: ScriptedModel, client: LiteLLMClient, database: Database
) -> None:
    await make_person(database, "ann")
    momex = with_model(client, database)
    await momex.add_now("ann", [told("I keep the Kestrel at the old pier.", days_ago=2)])
    await momex.add_now("ann", [told("I keep the Kestrel at the new pier.", days_ago=1)])
    old, new = await everything(momex, "ann")
    assert (old.superseded_by, new.valid_to) == (new.id, None)
    assert "Kestrel" in str(new.knowledge["entities"])
    assert "x" in str(new.knowledge["topics"]), "what only the model found"
    assert [("Which of the earlier ones" in call.last_user) for call in model.calls] == [False, False, True]
    asked = model.calls[-1].last_user
    assert "1. I keep the Kestrel at the old pier." in asked
    assert "Now:\nI keep the Kestrel at the new pier." in asked
    assert model.embedded[0] == ["I keep the Kestrel at the old pier."]
    assert await momex.store.vectors.missing("ann", "openai/embedder", 9) == {}


@pytest.mark.parametrize("broken", list(BROKEN))
async def test_rules_replace_any_bad_model_answer_and_the_job_loses_nothing(
    broken: str, model: ScriptedModel, client: LiteLLMClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken == "late":
        monkeypatch.setattr(asking, "MODEL_PATIENCE", -1.8)  # litellm's own net adds two seconds
    await make_person(database, "ann")
    momex = with_model(client, database)
    model.script = lambda _: BROKEN[broken]
    monkeypatch.setattr(work, "TRIES", 1)
    for words in ("I live in Berlin.", "I live in Lisbon now."):
        await momex.add("ann", [ChatMessage(Role.USER, words)])
        job = await momex.work.claim(None, "w")
        assert job is not None
        await momex.work.run(job)
        assert await momex.work.claim(None, "w") is None
    held = [memory.text for memory in await momex.store.read_by("ann", STOOD_IN, 9)]
    if held:  # a model that may come back reads them again; one whose answer has no form is not asked twice
        assert held == ["I live in Berlin.", "I live in Lisbon now."]
        assert await everything(momex, "ann") == []
    else:
        assert await holding(momex, "ann") == ["I live in Lisbon now."]
        assert "Berlin" in str((await everything(momex, "ann"))[0].knowledge)
    assert bool(held) is (broken in ("429", "late", "malformed"))
    assert model.calls


async def test_memory_calls_use_the_daily_budget_and_rules_take_over_once_spent(
    model: ScriptedModel, client: LiteLLMClient, database: Database
) -> None:
    await make_person(database, "ann")
    budgets = DailyBudgets(database, StandingClock(NOW), Decimal(1), (ModelPrice(0.0, 0.3, 2),))  # 60 cents a call
    momex = with_model(client, database, budgets)
    await momex.add_now("ann", [told("I keep the Kestrel at the old pier.")])
    await momex.add_now("ann", [told("We saw seals in Whitby.")])
    async with database.tenant("ann") as connection:
        spent = await connection.fetchval("select sum(spent) from spending where tenant_id = 'ann'")
    assert (len(model.calls), spent) == (1, Decimal("0.6"))
    assert len(await holding(momex, "ann")) == 2


async def next_job(momex: Momex) -> work.Job | None:
    """Claim the job that is due."""
    return await momex.work.claim(None, "w")


async def hurry(database: Database) -> None:
    """Let every job be due."""
    async with database.tenant("ann") as connection:
        await connection.execute("update memory_jobs set not_before = clock_timestamp() where tenant_id = 'ann'")


PASSING = {"429": error(429, retry_after=1), "500": error(500), "late": hang(20)}


@pytest.mark.parametrize("broken", list(PASSING))
async def test_a_job_retries_a_missing_model_then_uses_rules_until_it_is_back(
    broken: str, model: ScriptedModel, client: LiteLLMClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken == "late":
        monkeypatch.setattr(asking, "MODEL_PATIENCE", -1.8)  # litellm's own net adds two seconds
    monkeypatch.setattr(work, "TRIES", 2)
    await make_person(database, "ann")
    momex = with_model(client, database)
    model.script = lambda _: PASSING[broken]
    await momex.add("ann", [ChatMessage(Role.USER, "I keep the Kestrel at the old pier.")])
    job = await next_job(momex)
    assert job is not None
    await momex.work.run(job)
    assert await everything(momex, "ann") == [], "it waits for the model"
    assert await next_job(momex) is None, "for a while"
    await hurry(database)
    job = await next_job(momex)
    assert job is not None
    await momex.work.run(job)
    [memory] = await momex.store.read_by("ann", STOOD_IN, 9)
    assert "x" not in str(memory.knowledge["topics"]).split("'"), "rules have read it"
    assert await everything(momex, "ann") == [], "and it is held back"
    assert not (await momex.search("ann", "Where do I keep the Kestrel?")).found
    assert await next_job(momex) is None, "the model is left alone for a while"
    before = await momex.store.version("ann")
    for script in (lambda _: PASSING[broken], answer):
        model.script = script
        await hurry(database)
        reading = await next_job(momex)
        assert reading is not None
        await momex.work.run(reading)
    [memory] = await everything(momex, "ann")
    assert "x" in str(memory.knowledge["topics"]).split("'"), "the model has read it"
    assert [hit.memory.id for hit in (await momex.search("ann", "Where do I keep the Kestrel?")).found] == [memory.id]
    assert (await momex.store.version("ann")).epoch > before.epoch, "every index is rebuilt"
    assert await momex.store.read_by("ann", STOOD_IN, 9) == []
    await hurry(database)
    assert await next_job(momex) is None


async def test_rereading_stops_before_its_lease_ends_and_continues_later(
    model: ScriptedModel, client: LiteLLMClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "READ_AGAIN", 1)
    monkeypatch.setattr(work, "READING_FOR", -1)
    await make_person(database, "ann")
    momex = with_model(client, database)
    model.script = lambda _: error(429, retry_after=1)
    monkeypatch.setattr(work, "TRIES", 1)
    await momex.add("ann", [ChatMessage(Role.USER, "I keep the Kestrel at the old pier. My brother is Kofi.")])
    adding = await next_job(momex)
    assert adding is not None
    await momex.work.run(adding)
    model.script = answer
    for left in (1, 0):
        assert len(await momex.store.read_by("ann", STOOD_IN, 9)) == left + 1
        await hurry(database)
        reading = await next_job(momex)
        assert reading is not None
        await momex.work.run(reading)
        assert len(await momex.store.read_by("ann", STOOD_IN, 9)) == left
    await hurry(database)
    if last := await next_job(momex):
        await momex.work.run(last)
    await hurry(database)
    assert await next_job(momex) is None, "it ends"


@pytest.mark.parametrize("broken", list(PASSING))
async def test_memories_are_stored_unembedded_until_the_provider_is_back(
    broken: str, model: ScriptedModel, client: LiteLLMClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_person(database, "ann")
    momex = with_model(client, database)
    monkeypatch.setattr("providers.models.embedding.EMBED_PATIENCE", 0.5)
    model.embeddings = PASSING[broken]
    await momex.add_now("ann", [told("I keep the Kestrel at the old pier.")])
    [memory_id] = await momex.store.vectors.missing("ann", "openai/embedder", 9)
    recall = await momex.search("ann", "Where is the Kestrel, at the pier?")
    assert [hit.memory.id for hit in recall.found] == [memory_id], "found by its words until then"
    assert await momex.work.embed_again() == 0
    model.embeddings = None
    assert await momex.work.embed_again() == 1
    assert await momex.store.vectors.missing("ann", "openai/embedder", 9) == {}


JUNK = "asdkjh qwe zxc vbn"


async def test_what_a_model_finds_nothing_in_is_neither_listed_nor_recalled(
    model: ScriptedModel, client: LiteLLMClient, database: Database
) -> None:
    await make_person(database, "ann")
    momex = with_model(client, database)
    model.script = lambda call: (
        answer(call)
        if JUNK not in call.last_user
        else text('{"entities": [], "actions": [], "inverse_actions": [], "topics": []}')
    )
    for words in (JUNK, "(429)", "I keep the Kestrel at the old pier."):
        await momex.add("ann", [ChatMessage(Role.USER, words)])
        while job := await next_job(momex):
            await momex.work.run(job)
    assert await holding(momex, "ann") == ["I keep the Kestrel at the old pier."]
    assert JUNK not in await answer_memory(momex.for_tenant("ann"))
    assert not (await momex.search("ann", JUNK)).found
    await momex.for_tenant("ann").remember(JUNK, "asked for")
    assert JUNK in await holding(momex, "ann"), "it was asked for"


async def test_junk_of_an_outage_comes_up_once_a_model_has_read_it_only(
    model: ScriptedModel, client: LiteLLMClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "TRIES", 1)
    await make_person(database, "ann")
    momex = with_model(client, database)
    await momex.add_now("ann", [told("I live in Berlin.", days_ago=1)])
    model.script = lambda _: error(429, retry_after=1)
    for words in (JUNK, "I live in Lisbon now."):
        await momex.add("ann", [ChatMessage(Role.USER, words)])
        job = await next_job(momex)
        assert job is not None
        await momex.work.run(job)
    assert await holding(momex, "ann") == ["I live in Berlin."], "what is held back ends nothing"
    assert not (await momex.search("ann", JUNK)).found
    model.script = lambda call: (
        answer(call)
        if JUNK not in call.last_user
        else text('{"entities": [], "actions": [], "inverse_actions": [], "topics": []}')
    )
    await hurry(database)
    reading = await next_job(momex)
    assert reading is not None
    await momex.work.run(reading)
    assert await holding(momex, "ann") == ["I live in Lisbon now."]
