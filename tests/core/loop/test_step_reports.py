"""Each step that ended is a log line at debug and a sample, with ids and outcomes and nothing that anybody wrote."""

from collections.abc import Mapping, Sequence

from structlog.testing import capture_logs

from core.journal.in_memory import MemoryJournal
from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.loop.run import RunJournal
from core.tools.tool import tool
from tests.core.builders import run_loop, says, wants
from tests.counted import Increase

SECRET = "my password is hunter2"  # made up by the model as a tool's name, and as an argument


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} means nothing"


def lines(logged: Sequence[Mapping[str, object]]) -> list[tuple[object, ...]]:
    """Return where, what and how of each line of a step."""
    steps = [line for line in logged if line["event"] == "step_finished"]
    return [tuple(line[name] for name in ("turn", "step", "call", "kind", "name", "outcome")) for line in steps]


async def test_each_answer_and_each_call_is_one_line_at_debug() -> None:
    with capture_logs() as logged:
        await run_loop([wants(("look_up", {"word": SECRET})), says("It means nothing.")], [look_up])
    assert lines(logged) == [
        ("turn", 0, 0, "model", "fake", "ok"),
        ("turn", 0, 1, "tool", "look_up", "ok"),
        ("turn", 1, 0, "model", "fake", "ok"),
    ]
    assert {line["log_level"] for line in logged if line["event"] == "step_finished"} == {"debug"}


async def test_neither_arguments_nor_results_nor_made_up_names_are_logged() -> None:
    with capture_logs() as logged:
        await run_loop([wants(("look_up", {"word": SECRET}), (SECRET, {})), says("Sorry.")], [look_up])
    assert ("turn", 0, 2, "tool", "unknown", "error") in lines(logged)
    assert SECRET not in str(logged)


async def test_the_metrics_count_calls_by_tool_and_outcome() -> None:
    counts = Increase()
    calls = wants(("look_up", {"word": "a"}), ("look_up", {"word": "b"}), (SECRET, {}))
    await run_loop([calls, says("Done.")], [look_up])
    name = "onevalet_step_seconds_count"
    assert counts.of(name, kind="tool", name="look_up", outcome="ok") == 2
    assert counts.of(name, kind="tool", name="unknown", outcome="error") == 1
    assert counts.of(name, kind="model", name="", outcome="ok") == 2


async def test_a_step_that_is_replayed_is_not_told_again() -> None:
    journal = MemoryJournal()
    script = [wants(("look_up", {"word": "a"})), says("Done.")]
    await run_loop(script, [look_up], journal=journal)
    with capture_logs() as logged:
        await run_loop([], [look_up], journal=journal)
    assert lines(logged) == []


async def test_a_started_row_is_no_step_that_ended() -> None:
    journal = RunJournal(MemoryJournal(), "turn", {"send": object()}.get)
    started = StepRecord(StepKey(0, 1), StepKind.TOOL, "send", StepState.STARTED)
    with capture_logs() as logged:
        await journal.write(started)
    assert logged == []
