"""The context manager: whatever it cuts, the conversation stays whole."""

from hypothesis import given
from hypothesis import strategies as st

from core.llm.types import ChatMessage, Role, ToolCall, estimate_tokens
from core.loop.config import ReactLoopConfig
from core.loop.context_window import LOST_RESULT, ContextManager, Messages, repair
from tests.core.builders import SYSTEM, user

IDS = st.sampled_from("abcd")
TEXTS = st.text(max_size=30) | st.integers(1, 40).map(lambda count: "long line\n" * count * 10)
CALLS = st.lists(st.builds(ToolCall, IDS, st.just("t"), st.just("{}")), max_size=3, unique_by=lambda call: call.id)
MESSAGES = st.one_of(
    st.builds(user, TEXTS, internal=st.booleans()),
    st.builds(ChatMessage, st.just(Role.ASSISTANT), TEXTS, CALLS.map(tuple)),
    st.builds(ChatMessage, st.just(Role.TOOL), TEXTS, tool_call_id=IDS),
)
STEPS = st.lists(st.sampled_from(["trim", "recent", "truncate", "force", "repair", "recover"]), min_size=1, max_size=5)
CONFIG = ReactLoopConfig(
    context_token_limit=300, max_history_messages=8, min_tool_result_chars=20, max_tool_result_chars=100
)


def _apply(manager: ContextManager, step: str, messages: Messages) -> Messages:
    match step:
        case "trim":
            return manager.trim_if_needed(messages)
        case "recent":
            return manager.keep_recent(messages, 3)
        case "truncate":
            return manager.truncate_all_tool_results(messages)
        case "force":
            return manager.force_trim(messages)
        case "recover":
            return [messages, *manager.recoveries(messages)][-1]
    return repair(messages)


def complaints(messages: Messages) -> list[str]:
    """Return what a provider would refuse."""
    answered, open_calls = [], list[str]()
    for message in messages:
        if message.role is Role.TOOL:
            if message.tool_call_id not in open_calls:
                answered.append("a result without its call")
            else:
                open_calls.remove(message.tool_call_id)
            continue
        if open_calls:
            answered.append("a call without its result")
        open_calls = [call.id for call in message.tool_calls]
    return answered + (["a call without its result"] if open_calls else [])


@given(st.lists(MESSAGES, max_size=25), st.text(max_size=20), st.lists(MESSAGES, max_size=12), STEPS)
def test_no_sequence_of_cuts_breaks_a_conversation(
    before: list[ChatMessage], words: str, after: list[ChatMessage], steps: list[str]
) -> None:
    manager = ContextManager(CONFIG)
    persons = [message for message in [*before, user(words), *after] if message.role is Role.USER]
    last = [message for message in persons if not message.internal][-1]
    messages = repair((SYSTEM, *before, user(words), *after))
    for step in steps:
        messages = _apply(manager, step, messages)
        assert complaints(messages) == []
        assert messages[0] == SYSTEM
        assert last in messages
        if step in ("recent", "force"):
            assert messages[1].role is Role.USER


@given(st.lists(MESSAGES, max_size=25))
def test_repair_is_done_once(messages: list[ChatMessage]) -> None:
    once = repair(tuple(messages))
    assert complaints(once) == []
    assert repair(once) is once


@given(st.text(max_size=500))
def test_cutting_a_result_twice_changes_nothing(text: str) -> None:
    manager = ContextManager(CONFIG)
    once = manager.truncate_tool_result(text)
    assert manager.truncate_tool_result(once) == once
    assert len(once) <= 100 + len("\n[...truncated]")


def test_a_lost_result_is_said_to_be_lost() -> None:
    asked = ChatMessage(Role.ASSISTANT, tool_calls=(ToolCall("1", "t", "{}"), ToolCall("2", "t", "{}")))
    kept = ChatMessage(Role.TOOL, "two", tool_call_id="2")
    orphan = ChatMessage(Role.TOOL, "three", tool_call_id="3")
    assert [message.text for message in repair((asked, kept, orphan))] == ["", LOST_RESULT, "two"]


def test_history_is_trimmed_oldest_first_and_only_above_the_threshold() -> None:
    manager = ContextManager(ReactLoopConfig())
    few = (SYSTEM, *(user(f"{index}") for index in range(100)))
    assert manager.trim_if_needed(few) is few
    history = [
        message
        for index in range(100)
        for message in (user("x" * 4000), ChatMessage(Role.ASSISTANT, f"a{index}" + "y" * 400))
    ]
    many = (SYSTEM, *history, user("last"))
    assert estimate_tokens(many) > 128_000 * 0.8
    trimmed = manager.trim_if_needed(many)
    assert len(trimmed) <= 42
    assert trimmed[-1].text == "last"
    assert manager.trim_if_needed(few, tokens=110_000) != few


def test_the_turns_words_stay_when_its_own_steps_fill_the_context() -> None:
    steps = [
        message
        for index in range(20)
        for message in (
            ChatMessage(Role.ASSISTANT, tool_calls=(ToolCall(f"{index}", "t", "{}"),)),
            ChatMessage(Role.TOOL, "result", tool_call_id=f"{index}"),
        )
    ]
    cut = ContextManager(ReactLoopConfig()).force_trim((SYSTEM, user("One"), user("Two"), *steps))
    assert [message.text for message in cut[:3]] == [SYSTEM.text, "One", "Two"]
    assert len(cut) == 3 + 4
