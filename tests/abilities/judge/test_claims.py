"""Answers that claim an act: asked again once without a call that did it, marked if the next claims it again."""

from collections.abc import Iterable

import pytest

from abilities.judge.ability import ABILITY
from abilities.judge.checks import CheckingJudge
from abilities.judge.claims.judge import ASKED_AGAIN, MARKED, NOT_THIS_YET, NOT_YET, Claims
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, StandardAgent
from core.agents.valet import valet, valet_of
from core.errors import ToolFailed
from core.hooks.hooks import Hooks, Messages
from core.hooks.judge import ALL_WELL, Judgement, Trail
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepKind, StepRecord
from core.json_types import Json
from core.language.catalogue import LANGUAGES, gettext, speaking
from core.llm.types import ChatMessage, Marker, ModelAnswer, Role
from core.loop.config import ReactLoopConfig
from core.loop.loop import ReactLoop
from core.loop.reasoning import ModelCaller
from core.loop.result import Ended, ReactLoopResult
from core.loop.scope import LoopTask, TurnScope
from core.tools.tool import AnyTool, tool
from core.tools.toolbox import ToolRegistry
from core.turns.orchestrator import Orchestrator
from onevalet.foundations import HookFoundation
from onevalet.settings import Settings
from onevalet.turns import new_turn
from operations.paths.replay import recorded_agents
from tests.abilities.judge.answers import WHERE, Answer, asked_again
from tests.core.builders import SYSTEM, FakeModel, Step, a_context, says, user, wants

BOOK, BOOKED = "Book a table for two", "I've booked a table for two."
NOT_BOOKED = "I could not book it: I have no tool for that."


def tools() -> list[AnyTool]:
    @tool(effect="once")
    async def book_table(people: int) -> str:
        """Book a table."""
        if people > 9:
            raise ToolFailed("The restaurant is full.")
        if people > 5:
            raise RuntimeError("the line broke")
        return "Booked."

    @tool(effect="idempotent")
    async def remind_me(at: str) -> str:
        """Set a reminder."""
        return "Set."

    @tool(effect="read")
    async def find_events(day: str) -> str:
        """Find events."""
        return "Lunch with Ann, 12:00."

    @tool(effect="read")
    async def save_mail_file(id: str) -> str:
        """Keep a file of a mail."""
        return "Kept."

    return [book_table, remind_me, find_events, save_mail_file]


async def answered(
    asked: str,
    *steps: Step,
    journal: MemoryJournal | None = None,
    before: Iterable[ChatMessage] = (),
    turns: int = 10,
) -> tuple[ReactLoopResult, FakeModel]:
    """Run a turn of such words under the judge."""
    model, numbers = FakeModel(list(steps)), ReactLoopConfig(llm_retry_base_delay=0.001, max_turns=turns)
    scope = TurnScope(
        WHERE,
        journal or MemoryJournal(),
        lambda name, key: a_context(idempotency_key=key),
        config=numbers,
        hooks=Hooks([CheckingJudge(numbers.max_repeated_calls, numbers.max_idle_steps, Claims())]),
    )
    task = LoopTask(scope, (SYSTEM, *before, user(asked)), ToolRegistry(tools()))
    return await ReactLoop(ModelCaller(model, numbers, chance=lambda: 0.5)).run(task), model


async def findings(journal: MemoryJournal) -> list[str]:
    return [row.name for row in await journal.recorded() if row.kind is StepKind.JUDGE]


async def test_a_claim_without_a_call_is_asked_again_and_a_correction_is_read() -> None:
    journal = MemoryJournal()
    result, model = await answered(BOOK, says(BOOKED), says(NOT_BOOKED), journal=journal)
    assert (result.response, len(model.requests)) == (NOT_BOOKED, 2)
    assert model.last[-1].internal
    assert BOOKED in model.last[-1].text
    assert [message.text for message in result.messages] == [NOT_BOOKED], "the person never said or read the rest"
    assert await findings(journal) == [ASKED_AGAIN]


async def test_a_call_that_is_made_after_the_advice_makes_the_claim_true() -> None:
    book = wants(("book_table", {"people": 2}))
    result, model = await answered(BOOK, says(BOOKED), book, says(BOOKED))
    assert (result.response, len(model.requests)) == (BOOKED, 3)


async def test_a_second_claim_is_marked_and_asks_nothing_more() -> None:
    journal = MemoryJournal()
    result, model = await answered(BOOK, says(BOOKED), says(BOOKED), journal=journal)
    assert (result.response, result.ended) == (f"{BOOKED}\n\n{NOT_YET}", Ended.ANSWERED)
    assert len(model.requests) == 2
    assert result.messages[-1].text == result.response, "the model knows the mark in later turns"
    assert await findings(journal) == [ASKED_AGAIN, MARKED]


@pytest.mark.parametrize("kept", range(5))
async def test_promise_5_a_takeover_asks_again_once_and_marks_once(kept: int) -> None:
    journal = MemoryJournal()
    whole, _ = await answered(BOOK, says(BOOKED), says(BOOKED), journal=journal)
    rows: list[StepRecord] = list(await journal.recorded())
    answers = sum(row.kind is StepKind.MODEL for row in rows[kept:])
    again, model = await answered(BOOK, *[says(BOOKED)] * answers, journal=MemoryJournal(rows[:kept]))
    assert (again.response, len(model.requests)) == (whole.response, answers)


async def test_with_the_call_made_nothing_is_asked_again() -> None:
    result, model = await answered(BOOK, wants(("book_table", {"people": 2})), says(BOOKED))
    assert (result.response, len(model.requests)) == (BOOKED, 2)


async def test_a_call_that_failed_or_only_looked_backs_no_claim() -> None:
    calls: list[tuple[str, Json]] = [("book_table", {"people": 10}), ("find_events", {"day": "x"}), ("no_tool", {})]
    for call in calls:
        result, _ = await answered(BOOK, wants(call), says(BOOKED), says(BOOKED))
        assert result.response == f"{BOOKED}\n\n{NOT_YET}", call


async def test_a_call_of_unknown_outcome_is_not_said_to_be_undone() -> None:
    result, model = await answered(BOOK, wants(("book_table", {"people": 6})), says(BOOKED))
    assert (result.response, len(model.requests)) == (BOOKED, 2)


async def test_a_reminder_backs_no_mail_and_the_mark_names_the_claim() -> None:
    claim = "I've set a reminder for 6 PM and emailed Bob."
    steps = wants(("remind_me", {"at": "18:00"})), says(claim), says(claim)
    result, _ = await answered("Remind me at 6 and email Bob", *steps)
    assert result.response == f"{claim}\n\n{NOT_THIS_YET.format(claim=claim)}"
    true = "I've set a reminder for 6 PM. I have no way to email Bob."
    assert not await asked_again(Answer("en", False, "Remind me at 6 and email Bob", true, acts=("remind_me",)))


async def test_a_tool_that_reads_and_keeps_backs_that_something_was_saved() -> None:
    saved = "I've saved the attachment."
    assert await asked_again(Answer("en", True, "Save the attachment", saved))
    keep = wants(("save_mail_file", {"id": "1"}))
    result, _ = await answered("Save the attachment", keep, says(saved))
    assert result.response == saved


@valet(name="BookingAgent", effect="once")
class BookingAgent(StandardAgent):
    """Book a table."""

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(raw_message="Booked.")


@valet(name="LookingAgent", effect="read")
class LookingAgent(StandardAgent):
    """Look for a table."""

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(raw_message="There is one at eight.")


@pytest.mark.parametrize(("agent", "asked"), [(BookingAgent, 2), (LookingAgent, 3)])
async def test_an_agent_backs_a_claim_if_its_effect_is_more_than_to_read(agent: type, asked: int) -> None:
    call = wants((agent.__name__, {}))
    model = FakeModel([call, says(BOOKED), says(NOT_BOOKED)])
    registry, judge = AgentRegistry([BookingAgent, LookingAgent]), CheckingJudge(2, 3, Claims())
    await Orchestrator(model, agents=registry, hooks=[judge]).handle_message(new_turn(BOOK, "ann"))
    assert len(model.requests) == asked
    again = recorded_agents([found for one in (BookingAgent, LookingAgent) if (found := valet_of(one))], ())
    assert [tool.acts for tool in again] == [True, False]


async def test_an_agents_own_answer_is_held_to_its_own_calls() -> None:
    @valet(name="ThinkingAgent", effect="read")
    class ThinkingAgent(StandardAgent):
        """Think."""

        async def on_running(self, msg: str) -> AgentResult:
            return self.make_result(raw_message=await self.think("Book a table for two", tools=[]))

    model = FakeModel([wants(("ThinkingAgent", {})), says(BOOKED), says(NOT_BOOKED), says("No table yet.")])
    turns = Orchestrator(model, agents=AgentRegistry([ThinkingAgent]), hooks=[CheckingJudge(2, 3, Claims())])
    result = await turns.handle_message(new_turn(BOOK, "ann"))
    assert (result.reply, model.told()) == ("No table yet.", [NOT_BOOKED])


async def test_a_last_answer_that_may_not_be_asked_again_is_marked_at_once() -> None:
    look = wants(("find_events", {"day": "Friday"}))
    result, model = await answered(BOOK, look, says(BOOKED), turns=1)
    assert (result.ended, result.response) == (Ended.MAX_TURNS, f"{BOOKED}\n\n{NOT_YET}")
    assert len(model.requests) == 2


async def test_an_act_of_an_earlier_turn_may_be_told_of_in_answer_to_other_words() -> None:
    sent = Answer("en", False, "did you email Bob?", "Yes, I emailed Bob on Monday.", earlier=("SendEmailAgent",))
    assert not await asked_again(sent)
    only_looked = Answer("en", True, "did you email Bob?", "Yes, I emailed Bob on Monday.", earlier=("search_mail",))
    assert not await asked_again(only_looked), "a time in the past says that it was before this turn"
    now = Answer("en", True, "did you email Bob?", "Yes, I've emailed Bob.", earlier=("search_mail",))
    assert await asked_again(now)
    another = Answer("en", True, "Email Bob too", "I've emailed Bob.", earlier=("SendEmailAgent",))
    assert await asked_again(another)


async def test_an_answer_about_the_past_is_asked_again_and_never_marked() -> None:
    words = "Yes, I've emailed Bob."
    result, model = await answered("Have you emailed Bob?", says(words), says(words))
    assert (result.response, len(model.requests)) == (words, 2), "the call may stand in a part of history that is gone"


async def test_a_yes_to_an_offer_asks_for_an_act_and_an_ok_to_nothing_does_not() -> None:
    done, earlier = "Done.", [user("Email Bob"), ChatMessage(Role.ASSISTANT, "Shall I send it to Bob now?")]
    result, _ = await answered("yes please", says(done), says(done), before=earlier)
    assert result.response == f"{done}\n\n{NOT_YET}"
    result, _ = await answered("ok", says(done), before=[user("Hello"), ChatMessage(Role.ASSISTANT, "Hello!")])
    assert result.response == done


@pytest.mark.parametrize(
    "asked",
    [
        "Write me a story about a baker",
        "How do you say that in German?",
        "写一个面包师的故事",
        "Erzähl mir eine Geschichte",
    ],
)
async def test_a_work_of_words_claims_nothing(asked: str) -> None:
    story = "I sold my house and bought a ship. Ich habe das Haus verkauft und ein Schiff gekauft. 我已经买了一条船。"
    assert not await asked_again(Answer("en", False, asked, story))
    assert await asked_again(Answer("en", True, "Buy a ship", story))


async def test_a_tasks_run_is_held_to_the_tasks_words() -> None:
    context = ChatMessage(Role.USER, "It is Monday.", internal=True, marker=Marker.CONTEXT)
    messages = (SYSTEM, context, user("Email the report to Bob", internal=True))
    rated = Claims().rate(messages, (), says("The report has been emailed to Bob."))
    assert rated.finding == ASKED_AGAIN


async def test_words_that_came_in_meanwhile_are_answered_with_the_first() -> None:
    context = ChatMessage(Role.USER, "It is Monday.", internal=True, marker=Marker.CONTEXT)
    look = wants(("find_events", {"day": "Friday"})).message()
    messages = (SYSTEM, context, user("Cancel my lunch on Friday"), look, user("the one with Ann"))
    rated = Claims().rate(messages, (), says("Your lunch with Ann has been cancelled."))
    assert rated.finding == ASKED_AGAIN


async def test_the_mark_is_said_in_the_persons_language() -> None:
    marks = set()
    for language in LANGUAGES:
        with speaking(language):
            result, _ = await answered(BOOK, says(BOOKED), says(BOOKED))
            assert result.response == f"{BOOKED}\n\n{gettext(NOT_YET)}"
            marks.add(result.response)
    assert len(marks) == len(LANGUAGES) == 6


@pytest.mark.parametrize(("judge", "again"), [("model", True), ("checks", True), ("loops", False), ("off", False)])
async def test_a_setting_turns_it_off(judge: str, again: bool) -> None:
    settings = Settings(_env_file=None, onevalet_judge=judge)
    assert ABILITY.hooks is not None
    rater = FakeModel([says("{}"), says("{}")])
    hooks = ABILITY.hooks(HookFoundation(settings, ReactLoopConfig(), rater, None))
    scope = TurnScope(WHERE, MemoryJournal(), lambda name, key: a_context(), hooks=Hooks(hooks))
    model = FakeModel([says(BOOKED), says(NOT_BOOKED)])
    task = LoopTask(scope, (SYSTEM, user(BOOK)), ToolRegistry(()))
    result = await ReactLoop(ModelCaller(model, scope.config, chance=lambda: 0.5)).run(task)
    assert (result.response == NOT_BOOKED) is again


async def test_judges_that_used_up_their_advice_leave_the_mark() -> None:
    written_out = says('{"name": "book_table"}')
    result, _ = await answered(BOOK, written_out, written_out, says(BOOKED))
    assert result.response == f"{BOOKED}\n\n{NOT_YET}"


async def test_without_a_word_of_a_claim_no_rule_is_asked() -> None:
    class Watched(Claims):
        def rate(self, messages: Messages, trail: Trail, answer: ModelAnswer) -> Judgement:
            raise AssertionError("asked")

    judge = CheckingJudge(2, 3, Watched())
    for text in ("Hello! How are you?", "Es regnet morgen.", "你叫什么名字？", "Il pleut.", "¡Buenos días!"):
        assert await judge.rate_answer(WHERE, (user("Hi"),), (), says(text)) is ALL_WELL
    with pytest.raises(AssertionError, match="asked"):
        await judge.rate_answer(WHERE, (user("Hi"),), (), says(BOOKED))
