"""What one model answer may cause: so many calls, and none that was cut off in the middle."""

from dataclasses import replace

import pytest

from core import replies
from core.journal.in_memory import MemoryJournal
from core.journal.types import Outcome, StepKind
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, Role
from core.loop.config import ReactLoopConfig
from core.loop.result import Ended
from core.tools.tool import tool
from tests.core.builders import FakeModel, run_loop, says, wants

MANY = 500


class Ledger:
    """A tool that counts its runs."""

    def __init__(self) -> None:
        self.runs: list[str] = []

        @tool(name="add_note", effect="once")
        async def add_note(text: str = "nothing") -> str:
            """Add a note."""
            self.runs.append(text)
            return f"added {text}"

        self.tool = add_note


def many_calls(count: int = MANY) -> ModelAnswer:
    """Ask for so many calls in one answer."""
    notes: list[JsonObject] = [{"text": str(number)} for number in range(count)]
    return wants(*(("add_note", note) for note in notes))


async def test_500_calls_in_one_answer_run_no_more_than_the_cap() -> None:
    ledger = Ledger()
    cap = ReactLoopConfig().max_calls_per_answer
    model = FakeModel([many_calls(), says("done")])
    result, _ = await run_loop(model, [ledger.tool])
    assert len(ledger.runs) == cap
    assert result.ended is Ended.ANSWERED


async def test_the_first_call_beyond_the_cap_tells_the_model_of_all() -> None:
    ledger, journal = Ledger(), MemoryJournal()
    result, model = await run_loop(
        [many_calls(6), says("done")],
        [ledger.tool],
        config=ReactLoopConfig(max_calls_per_answer=4),
        journal=journal,
    )
    results = [message for message in model.last if message.role is Role.TOOL]
    assert [message.text for message in results][:4] == [f"added {number}" for number in range(4)]
    assert results[4].text.startswith("Not run: ")
    assert "at most 4" in results[4].text
    assert "those after it" in results[4].text
    # Providers demand a result for each call that the model is shown: the sixth is in none of these.
    asked = next(message for message in model.last if message.tool_calls)
    assert [call.id for call in asked.tool_calls] == [message.tool_call_id for message in results]
    assert len([record for record in await journal.recorded() if record.kind is StepKind.TOOL]) == 5
    assert [record.success for record in result.tool_calls] == [True] * 4 + [False]


async def test_promise_5_calls_beyond_the_cap_stay_refused_after_a_take_over() -> None:
    ledger, journal = Ledger(), MemoryJournal()
    config = ReactLoopConfig(max_calls_per_answer=2)
    await run_loop([many_calls(3), says("done")], [ledger.tool], config=config, journal=journal)
    records = [record for record in await journal.recorded() if record.kind is StepKind.TOOL]
    assert [record.outcome for record in records] == [Outcome.OK, Outcome.OK, Outcome.REFUSED]
    # Another worker, with another setting, finds it as it was.
    result, _ = await run_loop([], [ledger.tool], journal=journal)
    assert (result.response, ledger.runs) == ("done", ["0", "1"])


@pytest.mark.parametrize("arguments", ["", "{}", '{"text": "hel', '{"text": "hello"}'])
async def test_a_call_that_was_cut_off_is_never_run(arguments: str) -> None:
    ledger = Ledger()
    cut = replace(wants(("add_note", {"text": "whole"}), ("add_note", arguments)), finish_reason="length")
    _, model = await run_loop([cut, says("done")], [ledger.tool])
    assert ledger.runs == ["whole"]
    assert model.told()[1] == replies.CALL_CUT_OFF


async def test_an_answer_that_was_cut_off_is_told_with_a_plain_note() -> None:
    cut = replace(says("The first half of it"), finish_reason="length")
    result, _ = await run_loop([cut])
    assert result.response == f"The first half of it\n\n{replies.ANSWER_CUT_OFF}"
    assert result.messages[-1].text == result.response


async def test_a_summary_that_was_cut_off_is_told_with_a_plain_note() -> None:
    ledger = Ledger()
    cut = replace(says("So far"), finish_reason="length")
    result, _ = await run_loop([wants(("add_note", {})), cut], [ledger.tool], config=ReactLoopConfig(max_turns=1))
    assert (result.response, result.ended) == (f"So far\n\n{replies.ANSWER_CUT_OFF}", Ended.MAX_TURNS)


async def test_every_model_call_of_the_loop_says_how_long_its_answer_may_be() -> None:
    _, model = await run_loop([says("Hi")])
    assert model.requests[0].max_output_tokens == ReactLoopConfig().max_output_tokens == 8192
    _, small = await run_loop([says("Hi")], config=ReactLoopConfig(context_token_limit=30_000))
    assert small.requests[0].max_output_tokens == 2000, "the rest is for the conversation"
