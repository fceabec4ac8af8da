"""What is tried when a model call fails, in which order, and for how long."""

import asyncio
from datetime import timedelta

import pytest

from core.errors import (
    ConfigError,
    ContextOverflow,
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from core.llm.types import ChatMessage, ModelAnswer, ModelLayer, ModelRequest, Role, ToolCall
from core.loop.config import ReactLoopConfig
from core.loop.reasoning import Asked, ModelCaller
from tests.core.builders import SYSTEM, FakeModel, Step, says, user
from tests.eventually import never
from tests.patience import PATIENCE

LAYERS = (ModelLayer("a", 0), ModelLayer("a", 1), ModelLayer("a", 0, "low"), ModelLayer("b", 0))


async def _ask(
    *script: Step,
    layers: tuple[ModelLayer, ...] = (ModelLayer("a"),),
    config: ReactLoopConfig | None = None,
    messages: tuple[ChatMessage, ...] = (SYSTEM, user("Hello")),
) -> tuple[Asked | ModelError, FakeModel, list[float]]:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    numbers = config or ReactLoopConfig()
    model = FakeModel(list(script), layers)
    caller = ModelCaller(model, numbers, sleep=sleep, chance=lambda: 0.5)
    try:
        return await caller.ask(ModelRequest(messages)), model, pauses
    except ModelError as error:
        return error, model, pauses


def _layers(model: FakeModel) -> list[int]:
    return [request.layer for request in model.requests]


async def test_a_rate_limit_without_retry_after_doubles_the_delay_then_gives_up() -> None:
    error, model, pauses = await _ask(*[ModelRateLimited("slow down")] * 3)
    assert isinstance(error, ModelRateLimited)
    assert pauses == [1.0, 2.0]
    assert len(model.requests) == 3


async def test_a_rate_limit_with_retry_after_waits_just_that() -> None:
    asked, _, pauses = await _ask(ModelRateLimited("x", timedelta(seconds=7)), says("ok"))
    assert isinstance(asked, Asked)
    assert pauses == [7.0]


async def test_a_retry_after_beyond_our_patience_goes_to_the_next_layer_at_once() -> None:
    asked, model, pauses = await _ask(ModelRateLimited("x", timedelta(seconds=40)), says("ok"), layers=LAYERS)
    assert isinstance(asked, Asked)
    assert pauses == []
    assert _layers(model) == [0, 1]


async def test_the_onion_goes_through_keys_effort_and_fallback() -> None:
    asked, model, _ = await _ask(*[ModelUnavailable("x")] * 9, says("ok"), layers=LAYERS)
    assert isinstance(asked, Asked)
    assert _layers(model) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]


async def test_a_refused_key_falls_back_to_the_next_key_then_model_then_caller() -> None:
    asked, model, pauses = await _ask(ModelAuthError("x"), says("ok"), layers=LAYERS)
    assert isinstance(asked, Asked)
    assert (_layers(model), pauses) == ([0, 1], [])
    error, model, _ = await _ask(*[ModelAuthError("x")] * 9, layers=LAYERS)
    assert isinstance(error, ModelAuthError)
    assert _layers(model) == [0, 1, 2, 3]
    error, model, _ = await _ask(ModelAuthError("x"))
    assert isinstance(error, ModelAuthError)


async def test_a_timeout_is_tried_once_more() -> None:
    error, model, _ = await _ask(ModelTimeout("x"), ModelTimeout("x"), says("late"))
    assert isinstance(error, ModelTimeout)
    assert len(model.requests) == 2
    _, model, _ = await _ask(ModelTimeout("x"), says("ok"), layers=LAYERS)
    assert _layers(model) == [0, 3]


async def test_a_model_that_hangs_is_given_up_within_our_patience() -> None:
    async def hang(request: ModelRequest) -> ModelAnswer:
        await never()
        return says("never")

    config = ReactLoopConfig(llm_first_token_timeout=0.2, llm_patience=0.3)
    async with asyncio.timeout(PATIENCE):
        error, model, _ = await _ask(hang, hang, config=config)
    assert isinstance(error, ModelTimeout)
    assert [round(request.timeout, 1) for request in model.requests] == [0.2, 0.2]


async def test_a_model_slower_than_our_patience_is_waited_for() -> None:
    async def think(request: ModelRequest) -> ModelAnswer:
        await asyncio.sleep(0.4)
        return says("thought")

    asked, model, _ = await _ask(think, config=ReactLoopConfig(llm_timeout=0.1, llm_patience=0.2))
    assert isinstance(asked, Asked)
    assert asked.answer.text == "thought"
    assert len(model.requests) == 1


async def test_a_silence_beyond_our_patience_still_goes_to_the_other_model() -> None:
    async def hang(request: ModelRequest) -> ModelAnswer:
        await never()
        return says("never")

    config = ReactLoopConfig(llm_first_token_timeout=0.2, llm_patience=0.1)
    asked, model, _ = await _ask(hang, says("ok"), config=config, layers=LAYERS)
    assert isinstance(asked, Asked)
    assert _layers(model) == [0, 3]


def test_a_model_may_take_two_minutes_to_begin_by_default() -> None:
    config = ReactLoopConfig()
    assert config.llm_first_token_timeout == 120
    assert config.llm_timeout < config.llm_patience < 30


async def test_a_rejected_request_goes_to_another_model_only() -> None:
    _, model, _ = await _ask(ModelRejected("x"), says("ok"), layers=LAYERS)
    assert _layers(model) == [0, 3]
    error, _, _ = await _ask(ModelRejected("x"))
    assert isinstance(error, ModelRejected)


async def test_an_overflow_goes_through_three_steps_each_really_sent() -> None:
    history = [message for index in range(30) for message in (user(f"m{index}"), says("x").message())]
    asked_for = ChatMessage(Role.ASSISTANT, tool_calls=(ToolCall("c", "read", "{}"),))
    result = ChatMessage(Role.TOOL, "line\n" * 1000, tool_call_id="c")
    asked, model, pauses = await _ask(
        *[ContextOverflow("x")] * 3,
        says("ok"),
        messages=(SYSTEM, *history, user("Hello"), asked_for, result),
    )
    assert [len(request.messages) for request in model.requests] == [64, 40, 40, 6]
    assert [len(request.messages[-1].text) for request in model.requests] == [5000, 5000, 2014, 2014]
    assert all(user("Hello") in request.messages for request in model.requests)
    assert isinstance(asked, Asked)
    assert asked.prompt.request.messages == model.last
    assert pauses == []


async def test_the_same_request_is_never_sent_again_after_an_overflow() -> None:
    error, model, _ = await _ask(ContextOverflow("x"), says("never"))
    assert isinstance(error, ContextOverflow)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"max_turns": 0}, "MAX_TURNS"), ({"context_trim_threshold": 1.2}, "CONTEXT_TRIM_THRESHOLD")],
)
def test_a_number_that_is_off_is_named_as_its_setting(changes: dict[str, int], name: str) -> None:
    with pytest.raises(ConfigError, match=f"ONEVALET_LOOP_{name}"):
        ReactLoopConfig(**changes)  # type: ignore[arg-type]


def test_a_floor_above_its_ceiling_is_refused() -> None:
    with pytest.raises(ConfigError, match="MIN_TOOL_RESULT_CHARS"):
        ReactLoopConfig(max_tool_result_chars=10)
    assert ReactLoopConfig().max_history_messages == 40
