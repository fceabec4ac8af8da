"""Memory in turns: recalled into the prompt, asked by tools, told by /memory; what trimming drops is not lost."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from abilities.memory import tools
from abilities.memory.commands import NOTHING, answer_memory
from abilities.memory.config import RecallMode
from abilities.memory.extraction.speech import spoken_of
from abilities.memory.model_calls import ModelCalls
from abilities.memory.momex import Momex
from abilities.memory.types import Kind
from core.budgets.budgeted_model import BudgetedModel
from core.db.database import Database
from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role, estimate_tokens
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.loop.steering import spoken
from core.messaging.messages import Origin
from core.people.tenant import TurnTenant
from core.replies import CARD_SHOWN
from core.tools.tool import ToolSource
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnResult, TurnWork
from tests.abilities.memory.harness import NOW, holding, make_momex, told
from tests.core.builders import FakeModel, Step, says, wants
from tests.core.harness import Ids

ALL = (
    tools.remember,
    tools.search_memory,
    tools.list_memories,
    tools.correct_memory,
    tools.ask_to_forget,
    tools.forget,
)
WINDOW = 600
"""Tokens of the model's context."""


async def turn(
    momex: Momex,
    number: int,
    text: str,
    *script: Step,
    history: Sequence[ChatMessage] = (),
    limit: int = 100_000,
    sources: Sequence[ToolSource] = (),
) -> tuple[TurnResult, FakeModel]:
    """Run a turn of Ann's."""
    model = FakeModel(list(script))
    config = ReactLoopConfig(context_token_limit=limit, max_history_messages=12, summarise_dropped=False)
    orchestrator = Orchestrator(
        model, "You are Koi.", momex, tools=ALL, config=config, clock=momex.clock, tool_sources=sources
    )
    message = TurnMessage(f"m{number}", text, NOW)
    request = TurnRequest(
        TurnWork(f"t{number}", MemoryJournal()),
        TurnTenant("ann"),
        Place("sms"),
        FromPerson((message,)),
        Kept(tuple(history)),
    )
    return await orchestrator.handle_message(request), model


async def test_remember_correct_and_forget_in_words_with_a_question_before_it(momex: Momex) -> None:
    _, model = await turn(momex, 1, "Remember that I row on Tuesdays",
                          wants(("remember", {"statement": "I row on Tuesdays."})), says("Noted"))  # fmt: skip
    assert model.told() == ["Remembered:\n1. I row on Tuesdays. (Mon 15 Jun 2026, you told me)"]
    _, model = await turn(momex, 2, "That's wrong, it's Wednesdays",
                          wants(("correct_memory", {"number": 1, "statement": "I row on Wednesdays."})), says("Right"),
    )  # fmt: skip
    assert await holding(momex, "ann") == ["I row on Wednesdays."]
    ask = wants(("ask_to_forget", {"what": "row"}))
    _, model = await turn(momex, 3, "Forget that I row", ask, says("Shall I?"))
    line = "2. I row on Wednesdays. (Mon 15 Jun 2026, you told me)"
    assert line in model.told()[0]
    _, model = await turn(momex, 4, "Yes", wants(("forget", {"memories": [line]})), says("I cannot ask you here."))
    assert "this needs an approval" in model.told()[0]
    assert await holding(momex, "ann") == ["I row on Wednesdays."]
    assert await momex.for_tenant("ann", "t5").forget([line]) == 1
    assert await holding(momex, "ann") == []
    assert await answer_memory(momex.for_tenant("ann")) == NOTHING


async def test_secrets_are_refused_by_the_tool_too(momex: Momex) -> None:
    _, model = await turn(
        momex, 1, "Remember my PIN", wants(("remember", {"statement": "My PIN is 4821."})), says("No")
    )
    assert "never kept" in model.told()[0]
    assert await holding(momex, "ann") == []


async def test_recall_stands_in_the_prompt_or_is_a_tool_or_both(momex: Momex, database: Database) -> None:
    await momex.add_now("ann", [told("My sister Greta lives in Porto.")])
    for mode, stands, offered in (
        (RecallMode.STATIC, True, False), (RecallMode.TOOL, False, True), (RecallMode.BOTH, True, True),
    ):  # fmt: skip
        other = make_momex(database, recall=mode)
        _, model = await turn(other, 1, "Where does my sister Greta live?", says("In Porto"))
        prompt = model.last[0].text + model.last[-1].text + "".join(message.text for message in model.last)
        assert ('On 2026-06-15 the person said: "My sister Greta lives in Porto."' in prompt) is stands
        assert ("search_memory" in {tool.name for tool in model.requests[0].tools}) is offered


async def test_without_a_memory_its_tools_are_not_offered() -> None:
    model = FakeModel([says("Hi")])
    orchestrator = Orchestrator(model, "You are Koi.", tools=ALL)
    message = TurnMessage("m", "Hi", NOW)
    await orchestrator.handle_message(
        TurnRequest(TurnWork("t", MemoryJournal()), TurnTenant("ann"), Place("sms"), FromPerson((message,)))
    )
    assert model.requests[0].tools == ()


async def test_trimmed_parts_of_a_long_conversation_are_recalled_when_needed(
    momex: Momex,
) -> None:
    facts = {5: "My boat is called Solveig.", 12: "I park the van behind the old mill.", 20: "Tomas owes me a ladder."}
    history: list[ChatMessage] = []
    seen: list[int] = []

    def answer(request: ModelRequest) -> ModelAnswer:
        seen.append(estimate_tokens(request.messages))
        return says("Very interesting, do go on and tell me more about the weather and the long way there. " * 3)

    number = 0
    while estimate_tokens(history) < 10 * WINDOW:
        text = facts.get(number) or f"On day {number} it rained, and we walked for hours along the shore. " * 4
        result, _ = await turn(momex, number, text, answer, history=history[-200:], limit=WINDOW)
        for place, message in enumerate(result.history):
            await momex.adder.add("ann", "", spoken_of(f"h:{number}:{place}", message, NOW))
        history += result.history
        number += 1
    assert number > max(facts)
    assert max(seen) < 1.2 * WINDOW
    for question, fact in (("What is my boat called?", facts[5]), ("Where do I park the van?", facts[12]),
                           ("What does Tomas owe me?", facts[20])):  # fmt: skip
        _, model = await turn(momex, 999, question, says("I know"), history=history[-200:], limit=WINDOW)
        words = [message.text for message in model.last if message.role is Role.USER and not message.internal]
        assert fact not in words, "it was dropped from the conversation"
        assert any(f'the person said: "{fact}"' in message.text for message in model.last), question


async def test_a_turn_notes_its_recall_for_the_trace_without_any_text(momex: Momex) -> None:
    await momex.add_now("ann", [told("My sister Greta lives in Porto.")])
    result, _ = await turn(momex, 1, "Where does my sister Greta live?", says("In Porto"))
    report: Any = result.noted["memory"]
    [memory] = await momex.store.newest("ann", 1)
    legs = {leg["leg"]: (leg["hits"], leg["missed"]) for leg in report["legs"]}
    assert legs == {"text": ([memory.id], ""), "vector": ([memory.id], ""), "structured": ([], "off")}
    assert "Porto" not in str(report)


async def test_query_answers_in_words_and_cites(momex: Momex) -> None:
    await momex.add_now("ann", [told("My sister Greta lives in Porto.")])
    plain = await momex.query("ann", "Where does my sister Greta live?")
    assert (plain.text, [citation.number for citation in plain.citations]) == (
        "My sister Greta lives in Porto. [1]",
        [1],
    )
    for words, text, cited in (("She lives in Porto [1].", "She lives in Porto [1].", [1]), ("UNKNOWN", "", [])):
        model = FakeModel([says(words)])
        momex._asking = ModelCalls(BudgetedModel(model, momex.store.database), Ids())
        answer = await momex.query("ann", "Where does my sister Greta live?")
        assert (answer.text, [citation.number for citation in answer.citations]) == (text, cited)
        assert 'the person said: "My sister Greta lives in Porto."' in model.last[0].text
    momex._asking = ModelCalls(BudgetedModel(FakeModel([]), momex.store.database), Ids())
    assert (await momex.query("ann", "Who repairs the roof?")).text == ""


def test_words_that_were_passed_on_are_remembered_as_outside() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    message = TurnMessage("m", "I live in Moscow now.\nCall me Ivan.", at, origin=Origin.FORWARDED)
    [shown] = spoken(message)
    kept = spoken_of("h", ChatMessage.from_json(shown.to_json()), at)
    assert [(memory.text, memory.kind) for memory in kept] == [("I live in Moscow now.\nCall me Ivan.", Kind.OUTSIDE)]


def test_how_cards_and_files_stand_in_history_is_never_remembered() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    asked = CARD_SHOWN.format(code="2G", summary="Send an email to Bob (about the boat)")
    for text, role, kept in (
        (asked, Role.ASSISTANT, []),
        (f"I can do that.\n\n{asked}\n\n{asked}", Role.ASSISTANT, ["I can do that."]),
        ("(I asked for a boat)", Role.USER, ["(I asked for a boat)"]),
    ):
        assert [said.text for said in spoken_of("h", ChatMessage(role, text), at)] == kept
    [note] = spoken(TurnMessage("m", "", at, media_count=1))
    stored = ChatMessage.from_json(note.to_json())
    assert spoken_of("h", stored, at) == []
    reworded = replace(stored, text="[A file came.]")
    assert spoken_of("h", reworded, at) == [], "it is known by its marker, not by its words"
