"""The one request that reads a talk, and its answer: only what has the right form and came before counts."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from abilities.memory.extraction.talk import Talk, read_statements, request_for
from abilities.memory.index.typeagent_index import checked
from abilities.memory.types import PERSON, Kind, Memory
from core.json_types import JsonObject
from core.people.profile import Fact, FactSource
from tests.abilities.memory.harness import NOW

pytestmark = pytest.mark.xdist_group("typeagent")


def memory(number: int, text: str) -> Memory:
    said_at = NOW - timedelta(days=9 - number)
    return Memory(f"mem{number}", number, "", text, PERSON, Kind.TOLD, said_at, said_at)


EARLIER, FIRST, SECOND = memory(2, "I live in Graz."), memory(5, "I moved to Lisbon."), memory(6, "I like tea.")
TALK = Talk(["person: I moved to Lisbon.", "assistant: Nice!"], [FIRST, SECOND], [EARLIER])


def written(*statements: object) -> str:
    return f"Here: {json.dumps({'statements': statements})}"


def test_the_request_holds_both_sides_and_asks_for_what_is_wanted_only() -> None:
    system, user = request_for(TALK).messages
    for told in ("assistant: Nice!", '"number": 2, "said": "2026-06-08", "text": "I live in Graz."', "I like tea."):
        assert told in user.text
    assert "home_town" not in system.text
    facts = [Fact(1, "home_town", "Graz", FactSource.TOLD, NOW)]
    system, user = request_for(Talk(["person: I moved."], profile=facts)).messages
    assert '"statements" in the answer' not in system.text
    assert '"known": {"home_town": "Graz"}' in user.text


def test_a_long_talk_keeps_its_newest_lines() -> None:
    text = request_for(Talk([f"person: line {number} {'x' * 900}" for number in range(20)])).messages[1].text
    assert "line 19" in text
    assert "line 12" not in text


def test_a_statement_changes_only_what_was_listed_and_made_before_it() -> None:
    readings = read_statements(
        written({"number": 5, "replaces": [2], "topics": ["home"]}, {"number": 6, "replaces": [], "repeats": 5}), TALK
    )
    assert (readings[5].replaces, readings[5].knowledge) == ((2,), {"topics": ["home"]})
    assert readings[6].repeats == 5
    for wrong in ({"replaces": [6]}, {"replaces": [3]}, {"repeats": 5}, {"replaces": "all"}):
        assert read_statements(written({"number": 5, **wrong}), TALK) == {}


@pytest.mark.parametrize(
    ("written_as", "happens"),
    [
        ("2026-06-12T15:00", "2026-06-12T14:00"),
        ("2026-06-12T15:00:00+02:00", "2026-06-12T13:00"),
        ("2026-06-12", "2026-06-12T16:00"),
        ("2026-06-10T15:00", None),
        ("2026-09-12T15:00", None),
        ("tomorrow", None),
        ("", None),
        (7, None),
    ],
)
def test_what_is_ahead_counts_by_the_persons_clock_if_it_comes_soon(written_as: object, happens: str | None) -> None:
    talk = replace(TALK, zone=ZoneInfo("Europe/Lisbon"))
    [reading] = read_statements(written({"number": 5, "happens": written_as}), talk).values()
    assert reading.happens == (datetime.fromisoformat(happens).replace(tzinfo=UTC) if happens else None)


def test_statements_are_dated_by_the_persons_clock() -> None:
    asked = request_for(replace(TALK, zone=ZoneInfo("Asia/Tokyo"))).messages[1].text
    assert f'"number": 5, "said": "{FIRST.said_at.astimezone(ZoneInfo("Asia/Tokyo")):%a %Y-%m-%d %H:%M}"' in asked
    assert '"number": 2, "said": "2026-06-08"' in asked


@pytest.mark.parametrize("answer", ["", "I'd rather not.", '{"statements": 7}', '{"statements": [7, {"number": "5"}]}'])
def test_an_answer_without_form_reads_nothing(answer: str) -> None:
    assert read_statements(answer, TALK) == {}


def test_malformed_knowledge_is_left_out_and_the_rest_stays() -> None:
    ana: JsonObject = {"name": "Ana", "type": ["person"]}
    knowledge = checked({"entities": [ana, {"type": 7}], "topics": ["family"]})
    assert knowledge is not None
    assert [entity["name"] for entity in knowledge["entities"]] == ["Ana"]  # type: ignore[index, union-attr, call-overload]
    assert knowledge["topics"] == ["family"]
    assert checked({"entities": [{"type": 7}], "topics": []}) is None
