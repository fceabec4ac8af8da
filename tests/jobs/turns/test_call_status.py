"""What a running turn does is told in words, for whoever looks at it; a turn without calls tells nothing."""

from core.hooks.hooks import HookContext, PlannedCall
from core.llm.types import ModelAnswer, ToolCall
from jobs.turns.call_status import CallStatus
from onevalet.doing_now import DoingNow
from tests.eventually import eventually

WHERE = HookContext("turn", "ann", "telegram")
CALLS = ModelAnswer(tool_calls=(ToolCall("1", "get_weather", "{}"), ToolCall("2", "list_notes", "{}")))


async def read(web: DoingNow, wanted: str) -> None:
    """Wait until a page would read these words."""

    async def look() -> bool:
        return await web.of("turn_told") == wanted

    await eventually(look, repr(wanted))


async def test_calls_and_progress_are_told_until_the_model_thinks_again() -> None:
    told: list[str] = []
    hook = CallStatus(lambda _, text: told.append(text), "turn_1", lambda name: f"{name}…")
    await hook.pre_reasoning(WHERE, ())
    await hook.post_reasoning(WHERE, ModelAnswer("Hello."))
    assert told == [], "a plain answer costs nothing"
    await hook.post_reasoning(WHERE, CALLS)
    await hook.acting_chunk(WHERE, PlannedCall("1", "get_weather", {}), "Page 2 of https://evil.example/x")
    await hook.pre_reasoning(WHERE, ())
    assert told[0] == "get_weather… list_notes…"
    assert "evil" not in told[1]
    assert told[2:] == [""]


async def test_what_is_told_is_read_by_another_process_the_newest_first(redis_url: str) -> None:
    worker, web = DoingNow(redis_url), DoingNow(redis_url)
    for text in ("Checking the weather…", "Two of three days"):
        worker.tell("turn_told", text)
    await read(web, "Two of three days")
    worker.tell("turn_told", "")
    await read(web, "")
    assert await web.of("turn_of_nobody") == ""
    await worker.close()


async def test_without_redis_nothing_is_told_and_nothing_fails() -> None:
    doing = DoingNow("redis://127.0.0.1:1")
    doing.tell("turn_1", "Checking the weather…")
    assert await doing.of("turn_1") == ""
    await doing.close()
