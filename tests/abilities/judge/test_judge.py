"""The judges that ship: what one takes for a loop, how it advises, and what another asks a model."""

import itertools

import pytest

from abilities.judge.asking import ModelJudge
from abilities.judge.checks import CheckingJudge
from core.budgets.types import NoBudget, OutOfMoney
from core.errors import ModelUnavailable
from core.hooks.hooks import HookContext
from core.hooks.judge import ALL_WELL, Act
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepKey, StepKind
from core.llm.types import ModelRequest, Role, TokenUsage
from core.loop.config import ReactLoopConfig
from core.loop.result import Ended
from core.tools.tool import AnyTool, tool
from onevalet.settings import Settings
from onevalet.wiring.loop import hooks_of_abilities
from tests.core.builders import FakeModel, Step, run_loop, says, wants

CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001)
WHERE = HookContext("turn", "tenant", "terminal")


def checking(config: ReactLoopConfig = CONFIG) -> CheckingJudge:
    return CheckingJudge(config.max_repeated_calls, config.max_idle_steps)


def tools() -> list[AnyTool]:
    counted = itertools.count(1)

    @tool(effect="read")
    async def look(at: str = "") -> str:
        """Look."""
        return "nothing there"

    @tool(effect="read")
    async def poll(job: int) -> str:
        """Ask how far a job is."""
        return f"{next(counted)} of 9 done"

    @tool(effect="read")
    async def other() -> str:
        """Do something else."""
        return "still nothing"

    return [look, poll, other]


async def judged(*steps: Step, config: ReactLoopConfig = CONFIG) -> tuple[list[str], Ended, FakeModel, MemoryJournal]:
    """Run a turn with the checking judge; give its findings, how it ended, the model and the journal."""
    journal = MemoryJournal()
    result, model = await run_loop(steps, tools(), config=config, journal=journal, hooks=[checking(config)])
    ratings = [row.name for row in await journal.recorded() if row.kind is StepKind.JUDGE]
    return ratings, result.ended, model, journal


LOOK = wants(("look", {"at": "a"}))


async def test_a_repeated_call_with_the_same_result_draws_advice_the_second_time() -> None:
    rated_result, ended, model, journal = await judged(LOOK, wants(("look", '{ "at" : "a" }')), says("I give up"))
    assert (rated_result, ended) == (["repetition"], Ended.ANSWERED)
    assert model.last[-1].internal
    assert model.last[-1].role is Role.USER
    assert "You have called look 2 times with the same arguments" in model.last[-1].text
    [row] = [row for row in await journal.recorded() if row.kind is StepKind.JUDGE]
    assert row.key == StepKey(1, 2)


async def test_one_that_takes_no_advice_is_ended_with_an_honest_summary() -> None:
    rated_result, ended, model, _ = await judged(*[LOOK] * 4, says("I looked four times and found nothing."))
    assert (rated_result, ended) == (["repetition"] * 3, Ended.STUCK)
    assert not model.requests[-1].use_tools
    assert "Say plainly what was not done" in model.last[-1].text


async def test_polling_with_different_arguments_is_no_loop() -> None:
    steps = [wants(("look", {"at": str(n)}), ("poll", {"job": n})) for n in range(8)]
    assert (await judged(*steps, says("done")))[:2] == ([], Ended.ANSWERED)


async def test_polling_something_that_moves_is_no_loop_for_three_times_as_long() -> None:
    poll = wants(("poll", {"job": 1}))
    assert (await judged(*[poll] * 5, says("done")))[0] == []
    assert (await judged(*[poll] * 6, says("done")))[0] == ["repetition"]


async def test_two_tools_called_to_and_fro_are_compared_with_their_arguments() -> None:
    other = wants(("other", {}))
    patient = ReactLoopConfig(max_repeated_calls=9)
    assert (await judged(LOOK, other, LOOK, other, says("done"), config=patient))[0] == ["ping-pong"]
    differing: list[Step] = []
    for n in range(4):
        differing += [wants(("look", {"at": str(n)})), wants(("poll", {"job": n}))]
    assert (await judged(*differing, says("done")))[0] == []


async def test_calls_that_fail_or_tell_nothing_new_are_no_progress() -> None:
    rated_result, *_ = await judged(
        LOOK,
        wants(("look", {"at": {"x": 1}})),
        wants(("look", {"at": "a"}), ("no_such_tool", {})),
        wants(("look", {"at": {"x": 2}})),
        says("done"),
        config=ReactLoopConfig(max_consecutive_errors=9, max_repeated_calls=9),
    )
    assert rated_result == ["no progress"]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "look", "arguments": {"at": "a"}}',
        '```json\n{"tool": "look"}\n```',
        '<tool_call>{"name": "look"}</tool_call>',
        '{"final": "hello',
    ],
)
async def test_a_call_written_as_text_does_not_reach_the_person(text: str) -> None:
    result, model = await run_loop([says(text), says("Hello")], tools(), hooks=[checking()])
    assert result.response == "Hello"
    assert "written as text" in model.last[-1].text
    assert [message.text for message in result.messages] == ["Hello"]


@pytest.mark.parametrize("text", ["Name it {x}.", "Use <b>this</b>", '["a", "b"]', "{}", "Say: {'name': 1}"])
async def test_an_ordinary_answer_passes(text: str) -> None:
    assert (await judged(says(text)))[0] == []


async def rated(verdict: str) -> tuple[str, FakeModel, FakeModel]:
    """Run a turn whose first answer another model rates as told."""
    rater = FakeModel([says(verdict), says("{}")])
    result, model = await run_loop(
        [LOOK, says("It is there."), says("I could not find it.")], tools(), hooks=[ModelJudge(rater)]
    )
    return result.response, model, rater


async def test_a_model_may_rate_the_answer_with_what_was_asked_and_found() -> None:
    rated_result, model, rater = await rated('```json\n{"good": false, "advice": "Look found nothing: say so."}\n```')
    assert rated_result == "I could not find it."
    assert model.last[-1].text == "Before the person reads your answer: Look found nothing: say so."
    assert all(words in rater.requests[0].messages[1].text for words in ("Hello", "nothing there", "It is there."))


@pytest.mark.parametrize("verdict", ['{"good": true}', "fine", '{"good": false}', "[1]", ""])
async def test_a_rating_that_says_nothing_against_it_lets_the_answer_pass(verdict: str) -> None:
    assert (await rated(verdict))[0] == "It is there."


async def test_a_rating_model_that_is_away_lets_the_answer_pass() -> None:
    judge = ModelJudge(FakeModel([ModelUnavailable("down")]))
    result, _ = await run_loop([says("Hello")], hooks=[judge])
    assert (result.response, result.token_usage.total) == ("Hello", 110)


class RecordedBudget(NoBudget):
    """Note what is set aside, paid and given back, by (step, call); nothing beyond `cap` calls."""

    def __init__(self, cap: int = 9) -> None:
        self.noted: list[tuple[str, int, int]] = []
        self.cap = cap

    async def reserve(self, key: StepKey, request: ModelRequest) -> None:
        if sum(note[0] == "reserve" for note in self.noted) >= self.cap:
            raise OutOfMoney("used up")
        self.noted.append(("reserve", key.step, key.call_index))

    async def settle(self, key: StepKey, usage: TokenUsage) -> None:
        self.noted.append((f"settle {usage.total}", key.step, key.call_index))

    async def release(self, key: StepKey) -> None:
        self.noted.append(("release", key.step, key.call_index))


async def test_what_a_judge_asks_a_model_is_reserved_and_settled_like_any_call() -> None:
    for verdict, paid in ((says("{}"), "settle 110"), (ModelUnavailable("down"), "release")):
        budget = RecordedBudget()
        result, _ = await run_loop([says("fine")], hooks=[ModelJudge(FakeModel([verdict]))], budget=budget)
        assert budget.noted == [("reserve", 0, 0), ("settle 110", 0, 0), ("reserve", 0, 1), (paid, 0, 1)]
        assert result.ended is Ended.ANSWERED


async def test_at_the_cap_no_judge_is_asked_and_the_answer_is_the_persons() -> None:
    rater = FakeModel([])
    result, _ = await run_loop([says("fine")], hooks=[ModelJudge(rater)], budget=RecordedBudget(cap=1))
    assert (result.response, result.ended, rater.requests) == ("fine", Ended.ANSWERED, [])


async def test_an_act_is_a_failure_only_where_its_result_says_so() -> None:
    judge = checking()
    fine = tuple((Act("look", str(n), "nothing"),) for n in range(9))
    assert await judge.rate_results(WHERE, fine) == ALL_WELL
    failed = tuple((Act("look", str(n), "no", ok=False),) for n in range(3))
    assert (await judge.rate_results(WHERE, failed)).finding == "no progress"


@pytest.mark.parametrize(
    ("judge", "expected"), [("off", []), ("checks", ["CheckingJudge"]), ("model", ["CheckingJudge", "ModelJudge"])]
)
def test_the_judges_are_those_of_the_setting(judge: str, expected: list[str]) -> None:
    settings = Settings(_env_file=None, onevalet_judge=judge)
    hooks = hooks_of_abilities(settings, ReactLoopConfig(), FakeModel([]))
    assert [type(hook).__name__ for hook in hooks] == expected
