"""What the metrics say of a model call: how it ended, what it used and what it cost."""

import asyncio
from collections.abc import AsyncIterator, Generator

import pytest

from core.errors import ModelUnavailable
from core.llm.types import ModelAnswer, ModelChunk, ModelRequest, TokenUsage
from providers.models.call_meter import CallMeter
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, user
from tests.counted import Increase
from tests.scripted_model import ScriptedModel, error, text

MODEL = "openai/metered"
CALLS, TOKENS = "onevalet_model_call_seconds_count", "onevalet_model_tokens_total"
HELLO = ModelRequest((SYSTEM, user("Hello")))


@pytest.fixture
async def client() -> AsyncIterator[LiteLLMClient]:
    made = LiteLLMClient(MODEL)
    yield made
    await made.close()


def test_an_answer_counts_its_tokens_and_its_money() -> None:
    counts = Increase()
    with CallMeter(MODEL) as meter:
        meter.answered(TokenUsage(100, 20, 80, 0.25))
    assert counts.of(CALLS, model=MODEL, outcome="ok") == 1
    assert [counts.of(TOKENS, model=MODEL, kind=kind) for kind in ("input", "cached", "output")] == [100, 80, 20]
    assert counts.of("onevalet_model_cost_dollars_total", model=MODEL) == 0.25


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [(ModelUnavailable("away"), "ModelUnavailable"), (ValueError("a bug"), "failed")],
    ids=["theirs", "ours"],
)
def test_a_call_that_fails_is_counted_by_its_error(raised: Exception, outcome: str) -> None:
    counts = Increase()
    with pytest.raises(type(raised)), CallMeter(MODEL):
        raise raised
    assert counts.of(CALLS, model=MODEL, outcome=outcome) == 1


async def test_a_call_that_its_caller_gave_up_is_cut_off() -> None:
    counts = Increase()

    async def call() -> None:
        with CallMeter(MODEL):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(call(), 0.01)
    assert counts.of(CALLS, model=MODEL, outcome="cut_off") == 1


def test_a_stream_that_is_closed_after_its_answer_went_well() -> None:
    counts = Increase()

    def stream() -> Generator[ModelAnswer | None]:
        with CallMeter(MODEL) as meter:
            yield meter.read(ModelChunk("Hel"))
            yield meter.read(ModelChunk(answer=ModelAnswer("Hello")))

    pieces = stream()
    assert [next(pieces), next(pieces)] == [None, ModelAnswer("Hello")]
    pieces.close()
    assert counts.of(CALLS, model=MODEL, outcome="ok") == 1
    assert counts.of(CALLS, model=MODEL, outcome="cut_off") == 0


async def test_calls_over_the_wire_are_measured_once_each(model: ScriptedModel, client: LiteLLMClient) -> None:
    counts = Increase()
    model.add(text("Hello."), text("Hello again."), error(500))
    answer = await client.answer(HELLO)
    streamed = [chunk.answer async for chunk in client.stream(HELLO) if chunk.answer]
    with pytest.raises(ModelUnavailable):
        await client.answer(HELLO)
    assert counts.of(CALLS, model=MODEL, outcome="ok") == 2
    assert counts.of(CALLS, model=MODEL, outcome="ModelUnavailable") == 1
    used = answer.usage.input_tokens + streamed[0].usage.input_tokens
    assert counts.of(TOKENS, model=MODEL, kind="input") == used > 0
