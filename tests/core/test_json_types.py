"""JSON that somebody else wrote: what is no JSON, what no database keeps and what nests without end is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_types import MAX_DEPTH, Json, object_in, read_json

_VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        '{"price": -Infinity}',
        "[1e999]",
        "-1e999",
        "[" * 101 + "]" * 101,
        '{"a":' * 1200 + "1" + "}" * 1200,
        "[" * 1_000_000,
        "9" * 5000,
        '{"a"',
        "",
    ],
)
def test_json_that_cannot_be_kept_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        read_json(text)


@given(_VALUES)
def test_json_that_can_be_kept_is_read_as_it_was_written(value: Json) -> None:
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value).encode()) == value


def test_json_may_nest_up_to_the_bound() -> None:
    read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('Here: {"a": 1}, as asked.', {"a": 1}),
        ("nothing", {}),
        ("} and {", {}),
        ('{"a": NaN}', {}),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, {}),
        ("{" * 200_000, {}),
    ],
)
def test_the_object_in_an_answer_is_found_or_there_is_none(answer: str, value: Json) -> None:
    assert object_in(answer) == value
