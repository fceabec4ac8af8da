"""Working memory: what tool results told of, carried from turn to turn."""

import json

from hypothesis import given
from hypothesis import strategies as st

from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage
from core.loop.control import TurnMessage
from core.loop.conversation_state import MAX_SEEN, ConversationState
from core.people.tenant import TurnTenant
from core.tools.result_entities import Entity, entities_in
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnWork
from tests.core.builders import FakeModel, says, wants
from tests.core.turns.test_orchestrator import NOW


def test_things_with_an_id_and_a_name_are_found_at_any_depth_in_order() -> None:
    result = {
        "events": [
            {"id": "ev_1", "title": "Dentist", "place": {"id": 7, "name": "Dr\n Who"}},
            {"id": "ev_2", "title": ""},
            {"title": "No id"},
            {"id": "ev_3", "subject": "x" * 300},
        ]
    }
    entities = entities_in("calendar", json.dumps(result))
    assert [(entity.id, entity.name[:12], entity.tool) for entity in entities] == [
        ("ev_1", "Dentist", "calendar"),
        ("7", "Dr Who", "calendar"),
        ("ev_3", "x" * 12, "calendar"),
    ]
    assert len(entities[-1].name) == 100


def test_a_long_list_and_other_text_do_not_fill_it() -> None:
    assert len(entities_in("t", json.dumps([{"id": n, "name": "n"} for n in range(500)]))) == 10
    assert entities_in("t", "Just words") == entities_in("t", '{"id": 1, "name": ') == entities_in("t", "") == ()
    assert entities_in("t", "[" * 100_000) == ()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "name", "x"]), inner),
    )
)
def test_any_json_is_survived_and_what_is_found_can_be_kept(value: object) -> None:
    state = ConversationState().having_seen(entities_in("t", json.dumps(value)))
    assert ConversationState.from_json(json.loads(json.dumps(state.to_json()))) == state


def test_it_is_bounded_and_the_newest_stay() -> None:
    state = ConversationState()
    for number in range(50):
        state = state.having_seen([Entity("t", str(number), "n"), Entity("t", "again", "n")])
    assert len(state.seen) == MAX_SEEN
    assert [entity.id for entity in state.seen[-2:]] == ["49", "again"]


async def test_a_later_turn_is_told_of_it_although_the_result_is_gone() -> None:
    @tool(effect="read")
    async def list_events() -> list[dict[str, str]]:
        """List."""
        return [{"id": "ev_1", "title": 'Dentist "now"'}]

    model = FakeModel([wants(("list_events", {})), says("One"), says("Moved")])
    orchestrator = Orchestrator(model, tools=[list_events])
    first = await orchestrator.handle_message(_request())
    assert "ev_1" not in model.requests[1].messages[1].text
    kept = ChatMessage.from_json(first.history[-1].to_json())
    second = await orchestrator.handle_message(_request((kept,)))
    assert '- "Dentist \\"now\\"", id ev_1 (list_events)' in model.last[-2].text
    assert second.reply == "Moved"


def _request(history: tuple[ChatMessage, ...] = ()) -> TurnRequest:
    messages = (TurnMessage("m", "Hello", NOW),)
    return TurnRequest(
        TurnWork("turn1", MemoryJournal()), TurnTenant("t1"), Place("sms"), FromPerson(messages), Kept(history)
    )
