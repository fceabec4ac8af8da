"""The demo model: what it understands, and its way through litellm like any other model's."""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import replies
from core.agents.pending_answers import ANSWER
from core.journal.in_memory import MemoryJournal
from core.json_types import Json, JsonObject
from core.llm.types import ChatMessage, ModelRequest, Role, ToolCall
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.tool import AnyTool, tool
from core.turns.decide_tool import DECIDE
from core.turns.orchestrator import Orchestrator
from core.turns.prompt_lines import NOW, PENDING
from core.turns.types import FromPerson, Place, TurnRequest, TurnState, TurnWork
from onevalet import ToolFailed
from onevalet.wiring.plugins import load_plugins
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import user
from workbench.demo import model as demo
from workbench.demo.model import DEMO_MODEL
from workbench.demo.phrases import PHRASES

TOOLS = ["current_time", "calculate", "add_note", "list_notes", "forget_note"]


def says(text: str) -> JsonObject:
    """Say something as the person, in OpenAI's form."""
    return {"role": "user", "content": text}


def calls_of(*texts: str) -> list[tuple[str, str]]:
    """Return the calls that the demo model makes of some messages."""
    answer = demo.answer([says(text) for text in texts], TOOLS)
    assert answer.text == "" or not answer.tool_calls
    return [(call.name, call.arguments) for call in answer.tool_calls]


@pytest.mark.parametrize(
    ("sentence", "name", "arguments"),
    [
        ("what time is it", "current_time", "{}"),
        ("Could you tell me what time it is, please?", "current_time", "{}"),
        ("what day is it in Tokyo", "current_time", '{"timezone": "Asia/Tokyo"}'),
        ("time in Europe/Berlin", "current_time", '{"timezone": "Europe/Berlin"}'),
        ("what is 12*7", "calculate", '{"expression": "12*7"}'),
        ("calculate 3 percent of 80", "calculate", '{"expression": "3 / 100 * 80"}'),
        ("17 plus 4", "calculate", '{"expression": "17 + 4"}'),
        ("7 x 6 =", "calculate", '{"expression": "7 * 6"}'),
        ("the square root of 16", "calculate", '{"expression": "sqrt(16)"}'),
        ("how much is 1,000 divided by 8?", "calculate", '{"expression": "1000 / 8"}'),
        ("Hi there, calculate (2+3)^2 please", "calculate", '{"expression": "(2+3)^2"}'),
        ("what is 12/24?", "calculate", '{"expression": "12/24"}'),
        ("note: buy milk", "add_note", '{"text": "buy milk"}'),
        ("Please take a note that Anna's train is at 5.", "add_note", '{"text": "Anna\'s train is at 5"}'),
        ("note: a\nb", "add_note", '{"text": "a\\nb"}'),
        ("what are my notes", "list_notes", "{}"),
        ("forget note 2", "forget_note", '{"number": 2}'),
        ("delete my note #12!", "forget_note", '{"number": 12}'),
    ],
)
def test_a_sentence_becomes_a_call(sentence: str, name: str, arguments: str) -> None:
    assert calls_of(sentence) == [(name, arguments)]


def test_an_answer_is_spoken_if_that_is_asked_for_beside_it() -> None:
    asked = [says("what is 12*7, and say it aloud")]
    calls = demo.answer(asked, [*TOOLS, "say_aloud"]).tool_calls
    assert [(call.name, call.arguments) for call in calls] == [
        ("calculate", '{"expression": "12*7"}'),
        ("say_aloud", "{}"),
    ]
    assert demo.answer(asked, TOOLS).tool_calls[0].name == "calculate"
    assert "No voice is set up for me." in demo.answer([says("read this out loud")], TOOLS).text


ALL = sorted({phrase.tool for phrase in PHRASES if phrase.tool} - {ANSWER, DECIDE})
SUNDAY: JsonObject = {
    "role": "system",
    "content": "Be brief.\n\n" + NOW.format(weekday="Sunday", date="2026-11-22", time="23:10", zone="Europe/Berlin"),
}


@pytest.mark.parametrize(
    ("sentence", "name", "arguments"),
    [
        ("What's the weather in Berlin?", "get_weather", {"city": "Berlin"}),
        ("weather in New York tomorrow", "get_weather", {"city": "New York", "date": "2026-11-23"}),
        ("Will it rain in Bergen today?", "get_weather", {"city": "Bergen", "date": "2026-11-22"}),
        ("Forecast for Rome on December 4", "get_weather", {"city": "Rome", "date": "2026-12-04"}),
        ("weather in Rome on the 3rd of January", "get_weather", {"city": "Rome", "date": "2027-01-03"}),
        ("Find me a cheap flight to Rome", "FlightSearchAgent", {"destination": "Rome"}),
        (
            "flights from Berlin to Rome next Sunday, returning 2026-12-09",
            "FlightSearchAgent",
            {"origin": "Berlin", "destination": "Rome", "date": "2026-11-29", "return_date": "2026-12-09"},
        ),
        (
            "email sam@example.com and bo@example.com that I'm late, sorry",
            "SendEmailAgent",
            {
                "recipient": ["sam@example.com", "bo@example.com"],
                "subject": "I'm late, sorry",
                "body": "I'm late, sorry",
            },
        ),
        (
            "Send an email to sam@example.com about lunch: at noon?\nYours",
            "SendEmailAgent",
            {"recipient": ["sam@example.com"], "subject": "Lunch", "body": "At noon?\nYours"},
        ),
        (
            "email inn@example.com that we come if Ben agrees, too",
            "ask_both",
            {
                "who": "Ben",
                "action": "SendEmailAgent",
                "arguments": {"recipient": ["inn@example.com"], "subject": "We come", "body": "We come"},
            },
        ),
        ("from Berlin, next Friday", "answer_waiting_agent", {"fields": {"origin": "Berlin", "date": "2026-11-27"}}),
        ("Remind me in 2 hours to call mum", "remind_me", {"at": "in 2 hours", "text": "call mum"}),
        ("remind me to sleep tonight", "remind_me", {"at": "tonight", "text": "sleep"}),
        ("every weekday at 8 my notes", "ScheduleTask", {"what": "my notes", "cron": "0 8 * * 1-5"}),
        (
            "Every day at 11:30pm remind me to lock the door",
            "ScheduleTask",
            {"what": "lock the door", "cron": "30 23 * * *", "remind_only": True},
        ),
        (
            "every 2 hours remind me to stretch",
            "ScheduleTask",
            {"what": "stretch", "every_minutes": 120, "remind_only": True},
        ),
        ("What is on monday?", "list_events", {"day": "monday", "days": 1}),
        ("Move the dentist to 2027-01-11 15:30", "change_event", {"event": "dentist", "start": "2027-01-11 15:30"}),
        ("Grace's number is +1 415 555 0102", "add_contact", {"name": "Grace", "addresses": ["+1 415 555 0102"]}),
        ("text Grace that I am late", "MessageSomeoneAgent", {"to": "Grace", "text": "I am late"}),
        ("https://ferry.example/plan", "read_page", {"url": "https://ferry.example/plan"}),
        ("Never mind.", "answer_waiting_agent", {"drop": True}),
    ],
)
def test_an_errand_becomes_a_call_with_real_days(sentence: str, name: str, arguments: JsonObject) -> None:
    answer = demo.answer([SUNDAY, says(sentence)], [*ALL, ANSWER])
    assert [(call.name, json.loads(call.arguments)) for call in answer.tool_calls] == [(name, arguments)]


_RECIPIENTS: JsonObject = {"decision": "edit", "changes": {"recipient": ["a@b.org", "c@d.org"]}}


@pytest.mark.parametrize(
    ("sentence", "decision"),
    [
        ("yes", {"decision": "approve"}),
        ("never mind", {"decision": "cancel"}),
        ("EDIT 7K subject: Late", {"decision": "edit", "changes": {"subject": "Late"}}),
        ("EDIT 7K make the subject Very late", {"decision": "edit", "changes": {"subject": "Very late"}}),
        ("edit 7k: recipient: a@b.org and c@d.org", _RECIPIENTS),
        ("EDIT 7K make it 3pm", {"decision": "edit", "changes": {"cron": "0 15 * * 1-5"}}),
        ("EDIT 7K colour: red", None),
        ("EDIT 9Z subject: Late", None),
    ],
)  # fmt: skip
def test_a_card_is_decided_and_changed_in_words(sentence: str, decision: JsonObject | None) -> None:
    action = 'Mail {"subject": "x", "recipient": ["b@b.org"], "cron": "0 8 * * 1-5"}'
    prompt: JsonObject = {"role": "system", "content": PENDING.format(code="7K", summary="Send mail", action=action)}
    answer = demo.answer([prompt, says(sentence)], [*ALL, DECIDE])
    wanted = [] if decision is None else [{"decisions": [{"code": "7K", **decision}]}]
    assert [json.loads(call.arguments) for call in answer.tool_calls] == wanted


@pytest.mark.parametrize(
    "sentence",
    [
        "Search flights from SFO to NYC next Friday, check the weather in NYC next Friday, and "
        "email team@example.com the results.",
        "Search flights from SFO to NYC next Friday, check weather there and send it to team@example.com",
        "Flights from SFO to NYC next Friday + check the weather there + send an email to team@example.com, please",
    ],
)
def test_flights_and_weather_at_once_and_then_the_email_with_both(sentence: str) -> None:
    messages = [SUNDAY, says(sentence)]
    asked = demo.answer(messages, ALL)
    assert [(call.name, json.loads(call.arguments)) for call in asked.tool_calls] == [
        ("FlightSearchAgent", {"origin": "SFO", "destination": "NYC", "date": "2026-11-27"}),
        ("get_weather", {"city": "NYC", "date": "2026-11-27"}),
    ]
    messages += [_said(*asked.tool_calls), *map(_result, asked.tool_calls, ("Three flights", "Sunny"))]
    [mail] = demo.answer(messages, ALL).tool_calls
    wanted = {"recipient": ["team@example.com"], "subject": "For your information", "body": "Three flights\n\nSunny"}
    assert (mail.name, json.loads(mail.arguments)) == ("SendEmailAgent", wanted)
    # Approved on the next day, when "next Friday" would be another one.
    friday = NOW.format(weekday="Friday", date="2026-11-27", time="08:00", zone="UTC")
    monday: JsonObject = {"role": "system", "content": friday}
    answer = demo.answer([monday, *messages[1:], _said(mail), _result(mail, "Sent to team@example.com.")], ALL)
    assert answer.text == "Three flights\nSunny\nSent to team@example.com.\n(demo model)"


def test_without_an_email_account_it_says_how_to_connect_one() -> None:
    answer = demo.answer([says("email sam@example.com that I'm late")], TOOLS)
    assert answer.text.startswith("You have connected no email account")


def test_what_an_agent_asks_is_said_as_it_stands() -> None:
    answer = demo.answer([says("flights"), says(f"{replies.SAY_THIS}Where to?")], ALL)
    assert (answer.text, answer.tool_calls) == ("Where to?", ())


@pytest.mark.parametrize(
    ("sentence", "answer"),
    [
        ("weather in Rome on February 30", "I do not understand"),
        ("Hello!", 'Try "what time is it in Tokyo?"'),
        ("What can you do?", '"what are my notes?"'),
        ("Was kannst du?", "I know only a few English phrases"),
        ("help", 'under "Demo model"'),
        ("My number is +1 415 555 0100", 'I do not understand "My number is +1 415 555 0100".'),
        ("555-0100", 'I do not understand "555-0100".'),
        ("2026-11-20", "I do not understand"),
        ("24/12", "I do not understand"),
        ("what is 5", "I do not understand"),
        ("what is love?", "I do not understand"),
        ("tell me {abilities} {0}", 'I do not understand "tell me {abilities} {0}".'),
        ("", "what can you do?"),
    ],
)
def test_a_sentence_is_answered_at_once_and_labelled(sentence: str, answer: str) -> None:
    answered = demo.answer([says(sentence)], TOOLS)
    assert answer in answered.text
    assert answered.text.endswith("(demo model)")
    if "not understand" in answer:
        assert "Ask me: what can you do?" in answered.text


def test_everything_since_the_last_answer_is_answered_in_order() -> None:
    messages: list[JsonObject] = [says("what is 1+1?"), {"role": "assistant", "content": "2"}]
    messages += [says("what is 2+2?"), says("Hi"), says("what is 2+2?"), says("Thank you. And what is 3+3?")]
    asked = demo.answer(messages, TOOLS)
    assert [call.arguments for call in asked.tool_calls] == ['{"expression": "2+2"}'] * 2 + ['{"expression": "3+3"}']
    assert len({call.id for call in asked.tool_calls}) == 3
    messages.append(_said(*asked.tool_calls))
    messages += [_result(call, text) for call, text in zip(asked.tool_calls, ("4", "4", "6"), strict=True)]
    answer = demo.answer(messages, TOOLS)
    assert answer.tool_calls == ()
    assert [line for line in answer.text.splitlines() if " = " in line] == ["2+2 = 4", "2+2 = 4", "3+3 = 6"]
    assert [line.split(" ")[0] for line in answer.text.splitlines()] == ["2+2", "Hello!", "2+2", "You", "3+3", "(demo"]


@pytest.mark.parametrize("text", ["What time is it in Tokyo? And what is 3 + 4?", "time in Tokyo\n3 + 4", "Hm. 3 + 4."])
def test_each_sentence_of_a_message_counts(text: str) -> None:
    time = [("current_time", '{"timezone": "Asia/Tokyo"}')] if "Tokyo" in text else []
    assert calls_of(text) == [*time, ("calculate", '{"expression": "3 + 4"}')]


def test_what_comes_in_while_tools_run_is_called_for_and_answered_too() -> None:
    messages = [says("what is 2+2?")]
    first = demo.answer(messages, TOOLS)
    messages += [_said(*first.tool_calls), _result(first.tool_calls[0], "4"), says("notes")]
    second = demo.answer(messages, TOOLS)
    assert [call.name for call in second.tool_calls] == ["list_notes"]
    assert second.tool_calls[0].id != first.tool_calls[0].id
    messages += [_said(*second.tool_calls), _result(second.tool_calls[0], "The notes:\n1. milk")]
    assert demo.answer(messages, TOOLS).text == "2+2 = 4\nThe notes:\n1. milk\n\n(demo model)"


def test_a_forced_summary_tells_what_there_is_without_any_call() -> None:
    messages = [says("what is 2+2?")]
    asked = demo.answer(messages, TOOLS)
    messages += [_said(*asked.tool_calls), _result(asked.tool_calls[0], "4"), says("what is 3+3?")]
    answer = demo.answer([*messages, says(replies.SUMMARISE)], [])
    assert answer.tool_calls == ()
    assert answer.text == '2+2 = 4\nI did not get to "what is 3+3?".\n(demo model)'


def test_what_a_tool_says_of_an_error_is_told_but_no_internals() -> None:
    for result, expected in (
        ("That has no result: a division by zero.", "That has no result: a division by zero. (demo model)"),
        ("calculate failed with an internal error. Go on without it.", "That did not work just now"),
        ("calculate gave no answer within 30 seconds. It may", "That did not work just now"),
    ):
        messages = [says("what is 1/0?")]
        asked = demo.answer(messages, TOOLS)
        messages += [_said(*asked.tool_calls), _result(asked.tool_calls[0], result)]
        assert demo.answer(messages, TOOLS).text.startswith(expected)


def test_only_tools_that_are_offered_are_called_and_named() -> None:
    assert demo.answer([says("note: x")], ["calculate"]).tool_calls == ()
    help_text = demo.answer([says("help")], ["calculate"]).text
    assert "percent" in help_text
    assert "notes" not in help_text


@settings(deadline=None)  # the first text compiles the patterns
@given(st.lists(st.text(max_size=80) | st.from_regex(r"(what is |note |in )?[\d+*/^%. ()x-]{1,30}\??"), max_size=3))
def test_any_text_gets_calls_or_a_labelled_answer_deterministically(texts: list[str]) -> None:
    messages = [says(text) for text in texts]
    answer = demo.answer(messages, TOOLS)
    assert answer.tool_calls or answer.text.endswith(demo.LABEL)
    assert demo.answer(messages, TOOLS) == answer


@pytest.fixture
async def client() -> AsyncIterator[LiteLLMClient]:
    """Yield the demo model behind litellm."""
    made = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await made.warm_up()
    yield made
    await made.close()


class TestThroughLitellm:
    async def test_it_is_a_model_like_any_other(self, client: LiteLLMClient) -> None:
        offered = load_plugins(["agents"]).tools.specs
        asked = await client.answer(ModelRequest((user("what is 12*7"),), tools=offered, parallel_tools=False))
        assert [(call.name, call.arguments) for call in asked.tool_calls] == [("calculate", '{"expression": "12*7"}')]
        result = ChatMessage(Role.TOOL, "84", tool_call_id=asked.tool_calls[0].id)
        answer = await client.answer(ModelRequest((user("what is 12*7"), asked.message(), result), tools=offered))
        assert (answer.text, answer.model, answer.finish_reason) == ("12*7 = 84 (demo model)", "demo/valet", "stop")

    async def test_a_turn_runs_the_tools_that_ship(self, client: LiteLLMClient) -> None:
        reply = await _turn(client, load_plugins(["agents"]).tools, "What day is it?", "3 percent of 80", "Thanks")
        today, total, welcome, label = reply.splitlines()
        assert today.startswith("It is ")
        assert "in Asia/Tokyo (UTC+09:00)" in today
        assert (total, welcome, label) == ("3 / 100 * 80 = 2.4", "You are welcome.", "(demo model)")

    async def test_it_calls_tools_in_every_tool_mode(self) -> None:
        client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL, tool_mode="json")
        offered = load_plugins(["agents"]).tools.specs
        asked = await client.answer(ModelRequest((user("my notes"),), tools=offered))
        await client.close()
        assert [call.name for call in asked.tool_calls] == ["list_notes"]

    async def test_a_turn_that_ends_by_its_limits_is_labelled_too(self, client: LiteLLMClient) -> None:
        @tool(effect="read")
        async def calculate(expression: str) -> str:
            """Calculate."""
            raise ToolFailed("No.")

        config = replace(ReactLoopConfig(), max_turns=1)
        assert await _turn(client, [calculate], "what is 1+1?", config=config) == "No. (demo model)"


def _said(*calls: ToolCall) -> JsonObject:
    functions: list[Json] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def _result(call: ToolCall, text: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call.id, "content": text}


async def _turn(
    client: LiteLLMClient, tools: Iterable[AnyTool], *texts: str, config: ReactLoopConfig | None = None
) -> str:
    messages = tuple(TurnMessage(f"m{index}", text, datetime.now(UTC)) for index, text in enumerate(texts))
    request = TurnRequest(
        TurnWork("t", MemoryJournal()), TurnTenant("ada", timezone="Asia/Tokyo"), Place("sms"), FromPerson(messages)
    )
    result = await Orchestrator(client, tools=tools, config=config).handle_message(request)
    assert result.state is TurnState.DONE
    return result.reply


@pytest.mark.parametrize(
    ("words", "called"),
    [
        ("what is 6 * 7?", ("calculate", {"expression": "6 * 7"})),
        ("email sam@example.com that I am late", ("ask_in_own_chat", {"name": "Grace Hopper"})),
        ("what time is it, and email sam@example.com that I am late", ("ask_in_own_chat", {"name": "Grace Hopper"})),
        ("remind us at 18:00 to leave", ("remind_group", {"at": "at 18:00", "text": "leave"})),
        ("remind me at 18:00 to leave", ("ask_in_own_chat", {"name": "Grace Hopper"})),
    ],
)
def test_in_a_group_it_answers_or_hands_a_members_own_things_on(words: str, called: tuple[str, JsonObject]) -> None:
    prompt: JsonObject = {"role": "system", "content": f"{demo.IN_GROUP}several people read what you say."}
    answer = demo.answer([prompt, says(f"Grace Hopper: {words}")], [*TOOLS, "remind_group", demo.OWN_CHAT])
    assert [(call.name, json.loads(call.arguments)) for call in answer.tool_calls] == [called]


def test_in_a_group_a_yes_and_what_it_does_not_know_are_handed_to_nobody() -> None:
    prompt: JsonObject = {"role": "system", "content": f"{demo.IN_GROUP}several people read what you say."}
    for words in ("yes", "frobnicate the widget"):
        answer = demo.answer([prompt, says(f"Grace Hopper: {words}")], [*TOOLS, demo.OWN_CHAT])
        assert answer.text.startswith(f'I do not understand "{words}".')


def test_the_words_by_which_it_knows_a_group_are_those_of_the_prompt() -> None:
    told = Path("abilities/groups/sql/functions/turns.sql").read_text()
    assert f"'note', '{demo.IN_GROUP}" in told
    assert f'"{demo.OWN_CHAT}"' in told
