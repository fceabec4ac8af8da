"""The shape of a consent in advance: what lies within its bounds, and that nothing stretched does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.consents.shape import Target, WantedConsent, build_shape, covers
from core.errors import ToolRetry
from core.json_types import Json, JsonObject, canonical_json

_PARAMETERS: dict[str, JsonObject] = {
    "room": {"type": "string"},
    "text": {"type": "string"},
    "number": {"type": "number"},
    "pinned": {"type": "boolean", "default": False},
    "note": {"type": "string"},
}
TARGET = Target("post", {"properties": {**_PARAMETERS}}, ("text", "number"))
WANTED = WantedConsent({}, {"room": ["#team", "#ops"]}, {"number": [1, 5]}, {"text": 10})
BOUNDS = build_shape(TARGET, WANTED)
FITS: JsonObject = {"room": "#team", "text": "hello", "number": 3}
_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def test_a_range_may_be_a_single_number() -> None:
    bounds = build_shape(TARGET, WantedConsent({}, {"room": ["#team"]}, {"number": [3, 3]}, {"text": 10}))
    assert covers(TARGET, bounds, {"room": "#team", "text": "hello", "number": 3})
    assert not covers(TARGET, bounds, {"room": "#team", "text": "hello", "number": 4})


def test_a_tool_without_parameters_has_none_to_bound() -> None:
    assert Target("ring", {"type": "object"}, ()).parameters == {}


@given(
    room=st.sampled_from(["#team", "#ops"]),
    text=st.text(max_size=10),
    number=st.integers(1, 5) | st.floats(1, 5),
    pinned=st.none() | st.just(False),
)
def test_what_was_agreed_to_is_covered(room: str, text: str, number: float, pinned: bool | None) -> None:
    call: JsonObject = {"room": room, "text": text, "number": number}
    assert covers(TARGET, BOUNDS, call if pinned is None else call | {"pinned": pinned})


@given(name=st.sampled_from([*_PARAMETERS, "extra", "Room", "room "]), value=_json)
def test_a_call_with_any_one_argument_stretched_is_not_covered(name: str, value: Any) -> None:
    call = FITS | {name: value}
    within = {
        "room": isinstance(value, str) and value in ("#team", "#ops"),
        "text": isinstance(value, str) and len(value) <= 10,
        "number": isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= 5,
        "pinned": value is False,
    }.get(name, False)
    assert covers(TARGET, BOUNDS, call) == within


@pytest.mark.parametrize("number", [True, "3", None, float("nan"), [3]])
def test_a_range_covers_numbers_alone(number: Any) -> None:
    assert covers(TARGET, BOUNDS, FITS | {"number": 3.0})
    assert not covers(TARGET, BOUNDS, FITS | {"number": number})


@pytest.mark.parametrize("bound", [{}, {"near": 3}, {"is": 3, "one_of": [3]}, {"from": 1}, 3])
def test_a_bound_of_no_known_kind_covers_nothing(bound: Json) -> None:
    assert not covers(TARGET, BOUNDS | {"number": bound}, FITS)


def test_a_range_of_one_number_covers_that_number() -> None:
    bounds = build_shape(TARGET, WantedConsent({}, {"room": ["#team"]}, {"number": [3, 3]}, {"text": 10}))
    assert [number for number in (2, 3, 4) if covers(TARGET, bounds, FITS | {"number": number})] == [3]


@pytest.mark.parametrize("schema", [{}, {"properties": []}])
def test_a_tool_without_parameters_is_covered_as_it_is(schema: JsonObject) -> None:
    target = Target("post", schema, ())
    bounds = build_shape(target, WantedConsent({}, {}, {}, {}))
    assert covers(target, bounds, {})
    assert not covers(target, bounds, {"room": "#team"})


@given(missing=st.sampled_from(["room", "text", "number"]))
def test_a_call_without_a_bound_argument_is_not_covered(missing: str) -> None:
    assert not covers(TARGET, BOUNDS, {name: value for name, value in FITS.items() if name != missing})


@given(fixed=_json, given_value=_json)
def test_a_fixed_value_covers_itself_alone(fixed: Any, given_value: Any) -> None:
    target = Target("post", {"properties": {"room": {}}}, ())
    try:
        bounds = build_shape(target, WantedConsent({"room": fixed}, {}, {}, {}))
        same = canonical_json(fixed) == canonical_json(given_value)
    except ValueError:  # no JSON
        return
    assert covers(target, bounds, {"room": given_value}) == same


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (WantedConsent({}, {}, {}, {"room": 10}), "may not vary freely"),
        (WantedConsent({}, {}, {"pinned": [0, 1]}, {}), "may not vary freely"),
        (WantedConsent({"who": "x"}, {}, {}, {}), "has no 'who'"),
        (WantedConsent({"text": "x"}, {}, {}, {"text": 10}), "two bounds"),
        (WantedConsent({}, {"room": []}, {}, {}), "give 1 to 20 choices"),
        (WantedConsent({}, {}, {"number": [5, 1]}, {}), "lowest number comes first"),
        (WantedConsent({}, {}, {"number": [float("-inf"), 1]}, {}), "lowest and its highest"),
        (WantedConsent({}, {}, {}, {"text": 4001}), "1 to 4000"),
    ],
)
def test_a_bound_that_is_none_is_refused(wanted: WantedConsent, why: str) -> None:
    with pytest.raises(ToolRetry, match=why):
        build_shape(TARGET, wanted)


@pytest.mark.parametrize(
    "target",
    [
        Target("post", TARGET.schema),
        Target("post", TARGET.schema, (), high_risk=True),
        Target("pay_bill", TARGET.schema, ()),
        Target("SendPayment", TARGET.schema, ()),
        Target("post", {"properties": {"amount": {}}}, ()),
        Target("post", {"properties": {"accountPassword": {}}}, ()),
    ],
)
def test_high_risk_money_and_credentials_are_never_covered(target: Target) -> None:
    assert target.always_asks
    with pytest.raises(ToolRetry, match="never run without asking"):
        build_shape(target, WantedConsent({}, {}, {}, {}))


def test_each_edit_of_a_tool_changes_its_version() -> None:
    changed: list[Json] = [{"type": "string", "maxLength": 5}, {"type": "integer"}]
    targets = [TARGET, Target("post2", TARGET.schema, TARGET.varying), Target("post", TARGET.schema, ("text",))]
    targets += [Target("post", {"properties": {**_PARAMETERS, "room": schema}}, TARGET.varying) for schema in changed]
    assert len({target.version for target in targets}) == len(targets)


def test_what_is_left_out_stays_as_in_the_call_that_was_approved() -> None:
    example: JsonObject = {"room": "#team", "text": "x", "number": 2, "pinned": True}
    bounds = build_shape(TARGET, WantedConsent({"room": "#team"}, {}, {}, {"text": 5}, example))
    assert bounds == {
        "room": {"is": "#team"},
        "text": {"text": 5},
        "number": {"is": 2},
        "pinned": {"is": True},
        "note": {"absent": True},
    }
