"""What a trigger may not be is said in the person's language; what the model should write instead stays English."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from abilities.tasks.codec import UnreadableTrigger, stored_trigger
from abilities.tasks.kinds.bounds import TriggerError
from abilities.tasks.kinds.condition import ConditionTrigger, Watch, judge
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.known_sources import CHANNEL_EVENTS, KnownSources
from abilities.tasks.tools_api import TaskAccess
from abilities.tasks.trials import last_event
from core.errors import ToolRetry
from core.json_types import Json, JsonObject
from core.language.catalogue import speaking
from tests.abilities.tasks.harness import NOW, Harness
from tests.core.language.english import OTHERS, english_in

PAGE = "https://x.example/p"
WATCH: JsonObject = {"kind": "condition", "url": PAGE, "expression": "value < 3"}
EVENT: JsonObject = {"kind": "event", "source": "x1", "type": "y1"}
NAN = float("nan")


def _deep(levels: int) -> Json:
    return {"a": _deep(levels - 1)} if levels else 1


REFUSED: Mapping[str, JsonObject] = {
    "kind": {"kind": "k1"},
    "none of the three": {},
    "cron in words": {"cron": "x1"},
    "cron of six fields": {"cron": "* * * * * *"},
    "cron that is long": {"cron": "*" * 300},
    "cron that is none": {"cron": 5},
    "day that is none": {"cron": "0 8 40 * *"},
    "interval": {"interval_minutes": 0},
    "jitter": {"cron": "0 8 * * *", "jitter_seconds": -1},
    "grace": {"cron": "0 8 * * *", "grace_minutes": -1},
    "policy": {"cron": "0 8 * * *", "missed": "x1"},
    "timezone": {"cron": "0 8 * * *", "timezone": "Mars/Base"},
    "timezone that is none": {"cron": "0 8 * * *", "timezone": 5},
    "count": {"cron": "0 8 * * *", "count": 0},
    "moment": {"at": 5},
    "moment in words": {"at": "x1"},
    "year": {"at": "2900-01-01T08:00"},
    "start": {"cron": "0 8 * * *", "start": "1900-01-01T08:00"},
    "end": {"cron": "0 8 * * *", "until": 5},
    "event without source": EVENT | {"source": ""},
    "source": EVENT | {"source": "x" * 300},
    "type": EVENT | {"type": 5},
    "filter": EVENT | {"filter": 5},
    "filter that is deep": EVENT | {"filter": _deep(30)},
    "filter with NaN": EVENT | {"filter": {"a": NAN}},
    "filter that is long": EVENT | {"filter": {"a": "x" * 20_000}},
    "filter of many fields": EVENT | {"filter": {f"f{n}": 1 for n in range(30)}},
    "filter by a path": EVENT | {"filter": {"$..a..b": 1}},
    "comparison": EVENT | {"filter": {"a": {"x1": 1}}},
    "name of a field": EVENT | {"filter": {"a\x00": 1}},
    "source that is not there": {"kind": "event", "source": "x9", "type": "*"},
    "nothing to look at": WATCH | {"url": ""},
    "two to look at": WATCH | {"tool": "t1"},
    "address": WATCH | {"url": "ftp://x.example"},
    "address that is long": WATCH | {"url": PAGE + "x" * 3000},
    "tool": WATCH | {"url": "", "tool": 5},
    "arguments": WATCH | {"arguments": 5},
    "expression": WATCH | {"expression": "value <"},
    "expression that is empty": WATCH | {"expression": ""},
    "expression that is none": WATCH | {"expression": 5},
    "expression that is long": WATCH | {"expression": "1" + "+1" * 249},
    "expression that does more": WATCH | {"expression": "[x for x in value]"},
    "function": WATCH | {"expression": "f1(value)"},
    "field": WATCH | {"expression": "value._x"},
    "name": WATCH | {"expression": "n1 < 3"},
    "text that is multiplied": WATCH | {"expression": "value < 'x' * 3"},
    "reset": WATCH | {"reset": "n1"},
    "path": WATCH | {"path": "$["},
    "path of several": WATCH | {"path": "$.a | $.b"},
    "path that is long": WATCH | {"path": "$" + ".a" * 400},
    "path with two descents": WATCH | {"path": "$..a..b"},
    "path with a search": WATCH | {"path": "$.a[?$..b]"},
    "often": WATCH | {"every_minutes": 0},
    "gap": WATCH | {"min_gap_minutes": -1},
    "mode": WATCH | {"mode": "x1"},
}


def _without_names(text: str) -> str:
    """Return a text without the types of the channels' events, which are names in every language."""
    return re.sub("|".join(map(re.escape, CHANNEL_EVENTS)), "", text)


@pytest.mark.parametrize("language", OTHERS)
async def test_a_refused_trigger_is_refused_in_the_persons_language(harness: Harness, language: str) -> None:
    access = TaskAccess(harness.engine, harness.tenant)
    for case, described in REFUSED.items():
        said = []
        for tag in ("en", language):
            with speaking(tag), pytest.raises(ToolRetry) as refused:
                await access.check(described)
            said.append(refused.value)
        english, translated = said
        assert str(translated) != str(english), case
        assert english_in(_without_names(str(translated)), language) == [], case
        assert translated.note == english.note, f"{case}: what the model is told stays English"
        assert english.note == "" or english.note not in str(english), case


@pytest.mark.parametrize("language", OTHERS)
def test_a_look_that_cannot_be_judged_is_told_in_the_language(language: str) -> None:
    watch = ConditionTrigger("value < 3", url=PAGE)
    missing = ConditionTrigger("value < 3", url=PAGE, path="$.a")
    results: tuple[tuple[ConditionTrigger, Json], ...] = ((watch, "x"), (missing, {"b": 1}))
    for trigger, came in results:
        with speaking(language):
            judged = judge(trigger, Watch(), came, NOW)
        assert judged.watch.errors == 1
        assert english_in(judged.reason, language) == []
        assert judged.reason != judge(trigger, Watch(), came, NOW).reason


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_there_instead_of_a_source_is_listed(language: str) -> None:
    trigger = EventTrigger("x9", "y1")
    known = KnownSources(channels={"x1"}, seen={"x1": ["y2"]})
    for sources in (KnownSources(), known, KnownSources(sources=["x2"])):
        with speaking(language), pytest.raises(TriggerError) as refused:
            last_event(trigger, sources)
        assert english_in(_without_names(str(refused.value)), language) == []
        assert all(name in str(refused.value) for name in ("x9", *sources.names()))


@pytest.mark.parametrize("language", OTHERS)
def test_a_stored_trigger_that_is_refused_now_is_told_in_the_language(language: str) -> None:
    stored = stored_trigger("schedule", {"cron": "x1"})
    assert isinstance(stored, UnreadableTrigger)
    with speaking(language):
        assert english_in(stored.why, language) == []
    assert stored.why == "“x1” is not a cron expression, which has five fields, such as 0 8 * * 1-5."


def test_no_trigger_is_refused_by_a_sentence_outside_the_catalogue() -> None:
    """A new refusal is a sentence of the catalogue, or what another error says in it."""
    wrong = []
    for path in sorted(Path("abilities/tasks").rglob("*.py")):
        if "console" in path.parts:
            continue  # its pages are in English
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "TriggerError"):
                continue
            said = node.args[0]
            parts = said.values if isinstance(said, ast.JoinedStr) else [said]
            wrong += [
                f"{path}:{node.lineno}"
                for part in parts
                if isinstance(part, ast.Constant) and any(letter.isalpha() for letter in str(part.value))
            ]
    assert wrong == []
