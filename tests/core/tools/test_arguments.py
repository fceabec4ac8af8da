"""Arguments as small models write them: the same value in another form is understood, and nothing else is."""

import json
from collections.abc import Callable
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from core.errors import ToolRetry
from core.json_types import Json, JsonObject
from core.llm.types import ToolCall
from core.tools.arguments import Understood, read_call
from core.tools.tool import AnyTool, tool


class Colour(StrEnum):
    DARK_RED = "dark red"
    BLUE = "blue"


class Guest(BaseModel):
    name: str
    age: int | None = None


@tool(name="book_table", effect="once")
async def book_table(
    place: str,
    people: int,
    seat: Literal["Inside", "Outside"] = "Inside",
    colour: Colour | None = None,
    price: float | None = None,
    discount_percent: float = 0,
    share: Annotated[float, Field(ge=0, le=1)] = 0.5,
    quiet: bool = False,
    dishes: list[str] | None = None,
    guests: list[Guest] | None = None,
    menu: dict[str, int] | None = None,
    on: date | None = None,
    either: int | str = 0,
    children: int | bool = 0,
    host: Guest | None = None,
    tables: list[int] | None = None,
) -> str:
    """Book something for an event."""
    return place


@tool(name="look", effect="read")
async def look(place: str, pages: int = 1) -> str:
    """Look at pages of a place."""
    return place


NEEDED: JsonObject = {"place": "Here", "people": 2}


def read(arguments: Json, tool: AnyTool = book_table) -> Understood:
    """Read what a model wrote."""
    return read_call(ToolCall("c", tool.name, json.dumps(arguments)), tool)


def meant(name: str, value: Json) -> Json:
    """Return what one more argument is understood as; `...` where it is left out."""
    return read({**NEEDED, name: value}).arguments.get(name, "left out")


@pytest.mark.parametrize(
    ("name", "written", "understood"),
    [
        ("people", "4", 4),
        ("people", " 4 ", 4),
        ("people", 4.0, 4),
        ("people", "4.0", 4),
        ("people", [4], 4),
        ("people", "Table 4", 4),
        ("people", "table #4", 4),
        ("people", "events 4", 4),
        ("people", "4.00", 4),
        ("people", "People 4", 4),
        ("people", "no. 4", 4),
        ("people", "#4", 4),
        ("place", 7, "7"),
        ("place", ["Here"], "Here"),
        ("seat", "outside", "Outside"),
        ("seat", "OUTSIDE ", "Outside"),
        ("colour", "Dark_Red", "dark red"),
        ("colour", ["blue"], "blue"),
        ("price", "12.50", 12.5),
        ("price", "null", None),
        ("price", "", None),
        ("discount_percent", "20%", 20),
        ("discount_percent", "17.5 %", 17.5),
        ("share", "20%", 0.2),
        ("quiet", "true", True),
        ("quiet", "Yes", True),
        ("quiet", "nein", False),
        ("quiet", 1, True),
        ("dishes", "soup", ["soup"]),
        ("dishes", '["soup", "fish"]', ["soup", "fish"]),
        ("dishes", [3], ["3"]),
        ("guests", '{"name": "Ann"}', [{"name": "Ann"}]),
        ("guests", '{"name": "Ann", "age": 7}', [{"name": "Ann", "age": 7}]),
        ("dishes", "", None),
        ("tables", "4", [4]),
        ("guests", {"name": "Ada", "age": "36"}, [{"name": "Ada", "age": 36}]),
        ("guests", '[{"name": "Ada", "age": "36"}]', [{"name": "Ada", "age": 36}]),
        ("host", '{"name": "Ada", "age": "36"}', {"name": "Ada", "age": 36}),
        ("children", "2", 2),
        ("children", "yes", True),
        ("menu", '{"soup": "2"}', {"soup": "2"}),
        ("quiet", None, "left out"),
        ("seat", "", "left out"),
        ("discount_percent", [], "left out"),
        ("anything", None, "left out"),
        ("anything", "", "left out"),
    ],
)
def test_another_form_of_the_same_value_is_understood(name: str, written: Json, understood: Json) -> None:
    got = meant(name, written)
    assert got == understood
    assert type(got) is type(understood)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("people", "two"),
        ("people", "minus 4"),
        ("people", "under 4"),
        ("people", "may 4"),
        ("people", "4 hours"),
        ("people", "hour 4"),
        ("people", "4-5"),
        ("people", "4.5"),
        ("people", 4.5),
        ("people", "1,000"),
        ("people", [1, 2]),
        ("people", ["two"]),
        ("people", [True]),
        ("people", []),
        ("people", "20%"),
        ("people", True),
        ("price", "20%"),
        ("price", "about 12"),
        ("price", "12 EUR"),
        ("place", 1.1),
        ("place", True),
        ("place", ["Here", "There"]),
        ("seat", "in"),
        ("quiet", "maybe"),
        ("quiet", 2),
        ("dishes", "soup, fish"),
        ("dishes", "soup\nfish"),
        ("tables", "the corner"),
        ("on", 20270101),
        ("on", "tomorrow"),
        ("either", "5"),
        ("children", "1"),
        ("anything", "else"),
    ],
)
def test_what_may_mean_something_else_stays_as_it_is(name: str, written: Json) -> None:
    assert meant(name, written) == written


@pytest.mark.parametrize(
    "written",
    [
        NEEDED,
        json.dumps(NEEDED),
        {"arguments": NEEDED},
        {"parameters": json.dumps(NEEDED)},
        {"place": ["Here"], "people": "2", "colour": None},
    ],
)
def test_all_arguments_are_found_where_models_put_them(written: Json) -> None:
    understood = read(written).arguments
    assert book_table.parse(understood) | {"colour": None} == {**NEEDED, "colour": None}


def test_a_wrapper_that_is_a_parameter_or_has_others_beside_it_is_none() -> None:
    @tool(name="run", effect="once")
    async def run(arguments: dict[str, int]) -> str:
        """Run."""
        return ""

    assert read({"arguments": {"x": 1}}, run) == Understood({"arguments": {"x": 1}})
    beside: JsonObject = {"parameters": {"place": "There"}, **NEEDED}
    assert read(beside) == Understood(beside)


def test_unknown_arguments_are_left_out_of_what_only_reads() -> None:
    assert read({"place": "Here", "unit": "C"}, look) == Understood({"place": "Here"}, ("unit",))
    with pytest.raises(ToolRetry, match="cc is not a parameter"):
        book_table.parse(read({**NEEDED, "cc": "bob"}).arguments)


@pytest.mark.parametrize("written", ["[1]", "7", '"text"', "NaN", "{"])
def test_what_is_no_object_is_refused(written: str) -> None:
    with pytest.raises(ToolRetry, match="JSON"):
        read_call(ToolCall("c", "book_table", written), book_table)


PEOPLE = st.integers(0, 10**6)
FIELDS: dict[str, st.SearchStrategy[Json]] = {
    "place": st.text(max_size=9),
    "people": PEOPLE,
    "seat": st.sampled_from(["Inside", "Outside"]),
    "colour": st.sampled_from([*map(str, Colour), None]),
    "price": st.none() | st.floats(-1e6, 1e6) | PEOPLE,
    "discount_percent": st.floats(0, 100),
    "share": st.floats(0, 1),
    "quiet": st.booleans(),
    "dishes": st.none() | st.lists(st.text(max_size=9), max_size=3),
    "guests": st.none() | st.lists(st.fixed_dictionaries({"name": st.text(max_size=5)}), max_size=3),
    "menu": st.none() | st.dictionaries(st.text(max_size=3), PEOPLE, max_size=3),
    "on": st.none() | st.dates().map(str),
    "either": PEOPLE | st.text(max_size=5),
    "children": PEOPLE | st.booleans(),
    "tables": st.none() | st.lists(PEOPLE, max_size=3),
    "host": st.none() | st.fixed_dictionaries({"name": st.text(max_size=5)}),
}
VALID = st.fixed_dictionaries(
    {name: FIELDS[name] for name in NEEDED}, optional={name: FIELDS[name] for name in FIELDS if name not in NEEDED}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(VALID)
def test_valid_arguments_are_never_changed(arguments: JsonObject) -> None:
    assert read(arguments) == Understood(arguments)


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), JSON, max_size=5))
def test_reading_twice_changes_nothing_more(arguments: JsonObject) -> None:
    once = read(arguments).arguments
    assert read(once).arguments == once


WRITINGS: list[Callable[[Json], Json]] = [
    lambda value: [value] if not isinstance(value, list | None) else value,
    lambda value: str(value) if isinstance(value, int) and not isinstance(value, bool) else value,
    lambda value: str(value).lower() if isinstance(value, bool) else value,
    lambda value: json.dumps(value) if isinstance(value, dict | list) else value,
    lambda value: value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) else value,
    lambda value: value.upper() if value in ("Inside", "Outside", *Colour) and isinstance(value, str) else value,
]


@given(VALID, st.lists(st.sampled_from(WRITINGS), min_size=len(FIELDS), max_size=len(FIELDS)))
def test_however_they_are_written_they_mean_the_same(
    arguments: JsonObject, writings: list[Callable[[Json], Json]]
) -> None:
    written = {
        name: value if name in ("either", "children") or (name == "place" and isinstance(value, str)) else write(value)
        for (name, value), write in zip(arguments.items(), writings, strict=False)
    }
    assert book_table.parse(read(written).arguments) == book_table.parse(arguments)
