"""The recall benchmark in small: what its table says of all lives holds for two, by the encoder and typeagent."""

import re
from collections.abc import AsyncIterator, Sequence

import pytest

from abilities.memory.config import MomexConfig
from abilities.memory.momex import Momex
from tests.scripted_model import ModelCall, Reply, ScriptedModel, text
from workbench.benchmarks import recall_lives, recall_more
from workbench.benchmarks.recall import Run, answers, compare, indexes_of, live, memory_on
from workbench.benchmarks.recall_lives import CHATTER, Line, life
from workbench.benchmarks.recall_page import BEGIN, END, PAGE, told
from workbench.benchmarks.recall_ways import Tally, ways

LIVES = (1, 2)
_CHATTER = [re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(pattern))) for pattern in CHATTER]

pytestmark = pytest.mark.xdist_group("typeagent")


def shortened(number: int, every: int) -> list[Line]:
    """Return a life with all its facts, and a part of its chatter."""
    lines, _ = life(number)
    return [
        line for place, line in enumerate(lines)
        if place % every == 0 or not any(pattern.fullmatch(line.text) for pattern in _CHATTER)
    ]  # fmt: skip


@pytest.fixture
async def momex(database_url: str) -> AsyncIterator[Momex]:
    """Yield an offline memory: the embedded encoder and the rules."""
    async with memory_on(database_url, with_model=False) as momex:
        yield momex


@pytest.mark.slow
async def test_fused_is_no_worse_than_any_leg_and_the_structured_leg_matters(momex: Momex) -> None:
    lines = {number: shortened(number, 8) for number in LIVES}
    for number, texts in lines.items():
        await live(momex, number, texts)
        await indexes_of(momex).catch_up(f"life{number}")
    questions = [question for question in recall_lives.frozen_questions() if question.life in LIVES]
    questions += [question for question in recall_lives.frozen_questions(recall_more.FROZEN) if question.life in LIVES]
    tallies = {
        name: await answers(search, questions, lines) for name, search in ways(momex, embedded_anew=False).items()
    }
    fused = tallies.pop("fused")
    for name, tally in tallies.items():
        assert (fused.hit(1), fused.hit(5)) >= (tally.hit(1), tally.hit(5)), name
        assert fused.hit(5) >= tally.hit(5), name
    assert fused.hit(5) > tallies["fused without typeagent"].hit(5)
    assert fused.stale() == 0
    assert fused.answered("unknown") <= 0.2, "and all three legs without a bar answer nearly each"
    assert max(tally.answered("unknown") for tally in tallies.values()) == 1


@pytest.mark.slow
async def test_with_a_model_configured_it_reads_and_embeds_by_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedModel(nothing_found) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        monkeypatch.setenv("ONEVALET_MODEL", "openai/scripted")
        monkeypatch.setenv("ONEVALET_EMBEDDING_MODEL", "openai/embedder")
        async with memory_on(database_url, with_model=True) as momex:
            tallies = await compare(momex, {0: shortened(0, 1000)}, Run(range(1), model=True))
    read = [call.last_user for call in model.calls]
    assert sum("I live in" in text or "I am based in" in text for text in read) >= 1
    assert ["Which city is my home these days?"] in [texts[:1] for texts in model.embedded]
    assert tallies["frozen"]["fused"].hit(5, "contradiction") == 1
    page = "\n".join(told(tallies, momex.config, 60.0))
    assert "with openai/embedder" in page
    assert "| fused |" in page


def nothing_found(call: ModelCall) -> Reply:
    """Answer as a model that finds nothing, and sees no contradiction that no rule sees."""
    if "Which of the earlier ones" in call.last_user:
        return text("I cannot tell.")
    return text('{"entities": [], "actions": [], "inverse_actions": [], "topics": []}')


def test_the_questions_are_still_those_that_were_frozen() -> None:
    assert recall_lives.frozen_questions() == recall_lives.made_questions()
    assert recall_lives.frozen_questions(recall_more.FROZEN) == recall_more.made_questions()
    assert len(recall_lives.frozen_questions()) >= 150


def test_the_page_has_the_marks_that_the_benchmark_writes_between() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.index(BEGIN) < page.index("| fused |") < page.index(END)


def test_the_page_shows_no_way_that_recall_never_takes() -> None:
    tally = Tally()
    for question in recall_lives.frozen_questions()[:1]:
        tally.add(question, [question.answer], 0.1)
    ways = dict.fromkeys(("no memory", "typeagent only, no bar", "typeagent only", "fused"), tally)
    rows = [line.split(" | ")[0] for line in told({"frozen": ways}, MomexConfig(), 60.0) if line.startswith("| ")]
    assert rows == ["| way", "| ---", "| typeagent only", "| fused"]


def test_a_way_is_counted_by_what_it_brings_up() -> None:
    asked = recall_lives.frozen_questions()[:5]
    tally = Tally()
    for question in asked:
        tally.add(question, [f"x {question.answer}"] if question.answer else ["y"], 0.1)
    assert (tally.hit(1), tally.answered("unknown"), _kinds(tally)) == (1, 1, 5)
    missed = Tally()
    for question in asked:
        missed.add(question, [question.stale] if question.stale else [], 0.1)
    assert (missed.hit(5), missed.stale(), missed.answered("unknown")) == (0, 1, 0)


def _kinds(tally: Tally) -> int:
    kinds: Sequence[str] = [outcome.asked.kind for outcome in tally.outcomes]
    return len(set(kinds))
