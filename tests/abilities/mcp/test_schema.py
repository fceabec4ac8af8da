"""Schemas of others as checks of our own: what is understood, what is refused and why, and what it costs."""

import enum
import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from abilities.mcp.checks import Untranslatable
from abilities.mcp.keywords import MAX_ENUM
from abilities.mcp.schema import MAX_DEPTH, MAX_NODES, parameters_of, translate
from abilities.mcp.tools import mcp_tool
from abilities.mcp.types import Definition, McpServer
from abilities.mcp.wording import MAX_DEFINITION, unusable
from core.json_types import JsonObject
from tests.notify.steps import count_steps

SERVER = McpServer("home", url="https://mcp.example/mcp")


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: Annotated[float, Field(gt=0)]


class Square(BaseModel):
    kind: Literal["square"]
    side: float


class Drawing(BaseModel, extra="forbid"):
    name: Annotated[str, Field(min_length=1, max_length=50, pattern="^[a-z]+$", description="What it is\u200b called")]
    colour: Colour | None = None
    shapes: list[Annotated[Circle | Square, Field(discriminator="kind")]] = []
    sizes: tuple[int, str] = (1, "m")
    tags: set[str] = set()
    notes: dict[str, int] = {}
    step: Annotated[int, Field(multiple_of=5)] = 5


ZOD: JsonObject = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "owner": {"type": "string", "description": "Owner"},
        "labels": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "state": {"type": ["string", "null"], "enum": ["open", "closed", None], "default": "open"},
        "range": {"type": "array", "minItems": 2, "maxItems": 2, "items": [{"type": "number"}, {"type": "number"}]},
        "filter": {"anyOf": [{"type": "string"}, {"not": {}}]},
        "extra": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}},
        "same": {"$ref": "#/properties/owner"},
        "page": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9007199254740991},
    },
    "required": ["owner"],
    "additionalProperties": False,
}

ACCEPTED: list[tuple[JsonObject, Any, Any]] = [
    (Drawing.model_json_schema(), {"name": "x", "shapes": [{"kind": "square", "side": 2}]}, {"name": "x", "step": 7}),
    (Drawing.model_json_schema(), {"name": "x", "colour": None, "sizes": [1, "m"]}, {"name": "x", "sizes": ["m", 1]}),
    (Drawing.model_json_schema(), {"name": "x", "tags": ["a", "b"]}, {"name": "x", "tags": ["a", "a"]}),
    (Drawing.model_json_schema(), {"name": "x", "notes": {"a": 1}}, {"name": "x", "notes": {"a": "one"}}),
    (Drawing.model_json_schema(), {"name": "x"}, {"name": "x", "shapes": [{"kind": "circle", "radius": 0}]}),
    (Drawing.model_json_schema(), {"name": "x"}, {"name": "x", "other": 1}),
    (ZOD, {"owner": "a", "range": [1, 2.5], "state": None}, {"owner": "a", "range": [1, "2"]}),
    (ZOD, {"owner": "a", "same": "b", "extra": {"x": [1]}}, {"owner": "a", "same": 4}),
    (ZOD, {"owner": "a", "filter": "b"}, {"owner": "a", "filter": 3}),
    ({}, {"anything": 1}, None),
    ({"type": "object"}, {}, None),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"type": "string"}}}}}, {"a": "x"}, {"a": 1}),
    ({"properties": {"a": {"type": "string", "nullable": True}}}, {"a": None}, {"a": 1}),
    ({"properties": {"a": {"$ref": "#/$defs/A/b~1c", "minimum": 3}}, "$defs": {"A": {"b/c": {"type": "integer"}}}},
     {"a": 3}, {"a": 2}),
    ({"properties": {"a": {"enum": [1, "x", None, [1], {"b": 2}]}}}, {"a": {"b": 2.0}}, {"a": True}),
    ({"properties": {"a": {"pattern": "(a+)+$", "format": "uri", "x-order": 3, "title": "A"}}}, {"a": "no uri"}, None),
    ({"properties": {"a": {"multipleOf": 0.01}}}, {"a": 19.99}, {"a": 0.005}),
]  # fmt: skip


def _steps(keyword: str, count: int) -> Any:
    """Return a schema of so many steps, each twice the next: 2^count parts."""
    twice = {f"s{at}": {keyword: [{"$ref": f"#/$defs/s{at + 1}"}] * 2} for at in range(count)}
    return {"properties": {"a": {"$ref": "#/$defs/s0"}}, "$defs": twice | {f"s{count}": {"type": "string"}}}


def _nested(count: int) -> JsonObject:
    inside: JsonObject = {"type": "string"}
    for _ in range(count):
        inside = {"items": inside}
    return {"properties": {"a": inside}}


ENUM = f"have an enum that is no list, or not of 1 to {MAX_ENUM}"
REFUSED: list[tuple[Any, str]] = [
    (_steps("allOf", 12), f"come to more than {MAX_NODES} parts"),
    (_steps("anyOf", 12), f"come to more than {MAX_NODES} parts"),
    (_steps("oneOf", 12), f"come to more than {MAX_NODES} parts"),
    ({"properties": {str(at): {} for at in range(MAX_NODES)}}, f"come to more than {MAX_NODES} parts"),
    (_steps("allOf", 26), "nest too deeply"),
    (_nested(MAX_DEPTH), "nest too deeply"),
    ({"properties": {"a": {"$ref": "#"}}}, "refer to themselves"),
    ({"$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}, "items": {"$ref": "#/$defs/A"}}, "refer to themselves"),
    ({"properties": {"a": {"$ref": "http://127.0.0.1/x"}}}, "refer to another document"),
    ({"properties": {"a": {"$ref": "other.json#/a"}}}, "refer to another document"),
    ({"properties": {"a": {"$ref": 7}}}, "refer to another document"),
    ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "refer to something that is not in them"),
    ({"properties": {"a": {"$ref": "#anchor"}}}, "refer to something that is not in them"),
    ({"properties": {"a": {"$dynamicRef": "#a"}}}, "use $dynamicRef, which is not understood here"),
    ({"properties": {"a": {"if": {}, "then": False}}}, "use if, which is not understood here"),
    ({"patternProperties": {"^a": {}}}, "use patternProperties, which is not understood here"),
    ({"properties": {"a": {"contains": {}}}}, "use contains, which is not understood here"),
    ({"properties": {"a": {"enum": [*range(MAX_ENUM + 1)]}}}, ENUM),
    ({"properties": {"a": {"enum": "x"}}}, ENUM),
    ({"properties": {"a": {"type": "text"}}}, "have a type that JSON does not know"),
    ({"properties": {"a": {"type": {}}}}, "have a type that JSON does not know"),
    ({"properties": {"a": {"type": [["string"]]}}}, "have a type that JSON does not know"),
    ({"properties": ["a"]}, "have properties that are no object"),
    ({"properties": {"a": "string"}}, "hold something that is no schema"),
    ({"properties": {"a": {"required": True}}}, "have a list of what is required that is no list of names"),
    ({"properties": {"a": {"minLength": "1"}}}, "give minLength what it cannot have"),
    ({"properties": {"a": {"minLength": -1}}}, "give minLength what it cannot have"),
    ({"properties": {"a": {"multipleOf": 0}}}, "give multipleOf what it cannot have"),
    ({"properties": {"a": {"exclusiveMinimum": True}}}, "give exclusiveMinimum what it cannot have"),
    ({"properties": {"a": {"uniqueItems": 1}}}, "have a uniqueItems that is neither true nor false"),
    ({"properties": {"a": {"anyOf": {}}}}, "have a list of schemas that is no list, or not of 1 to 50"),
    ({"properties": {"a": {"oneOf": []}}}, "have a list of schemas that is no list, or not of 1 to 50"),
    ({"type": "array"}, "are no object"),
    ({"properties": {"a\u200b": {}}}, "have a name with characters that nobody sees"),
    ({"required": ["a\U000e0061"]}, "have a name with characters that nobody sees"),
    ({"properties": {"a": {"enum": ["x\u2060"]}}}, "have a value with characters that nobody sees"),
    ({"properties": {"a": {"const": {"b": ["\u202e"]}}}}, "have a value with characters that nobody sees"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "right", "wrong"), ACCEPTED)
def test_a_schema_as_servers_write_it_is_understood(schema: JsonObject, right: Any, wrong: Any) -> None:
    assert unusable(Definition("x", "", schema), SERVER) == ""
    translated = translate(schema)
    assert translated.problems(right) == []
    if wrong is not None:
        assert translated.problems(wrong)
    Draft202012Validator.check_schema(translated.shown)
    assert "$ref" not in json.dumps(translated.shown), "each reference was replaced by what it refers to"


@pytest.mark.parametrize(("schema", "why"), REFUSED)
def test_any_other_is_refused_in_one_sentence_when_it_is_offered(schema: Any, why: str) -> None:
    with pytest.raises(Untranslatable) as raised:
        translate(schema)
    assert str(raised.value) == why
    assert unusable(Definition("x", "", schema), SERVER) == f"its parameters {why}"


def test_what_others_write_in_a_schema_is_cleaned_and_the_rest_left_out() -> None:
    name = translate(Drawing.model_json_schema()).shown["properties"]["name"]  # type: ignore[index,call-overload]
    assert name == {"type": "string", "minLength": 1, "maxLength": 50, "description": "What it is called"}


def test_parameters_in_alternatives_are_known_too() -> None:
    hidden = translate({"allOf": [{"anyOf": [{"properties": {"url": {"type": "string"}}}]}], "properties": {"a": {}}})
    assert parameters_of(hidden.shown).keys() == {"url", "a"}


def test_a_complaint_says_where_and_what() -> None:
    problems = translate(Drawing.model_json_schema()).problems(
        {"shapes": [{"kind": "square", "side": "wide"}], "step": 3}
    )
    assert problems[:3] == [
        "shapes.0: nothing of this is met: shapes.0.kind: 'square' is not 'circle'; "
        "shapes.0.side: 'wide' is not of type 'number'",
        "step: 3 is no multiple of 5",
        "they: 'name' is a required property",
    ]


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("steps", [12, 26])
def test_a_schema_that_doubles_costs_as_little_as_its_bound(keyword: str, steps: int) -> None:
    schema = _steps(keyword, steps)
    assert len(json.dumps(schema)) < 2_000
    assert count_steps(lambda: unusable(Definition("x", "", schema), SERVER)) < 100 * MAX_NODES


def test_a_tool_with_such_a_schema_is_not_offered() -> None:
    connections: Any = None
    assert mcp_tool(SERVER, Definition("x", "", _steps("allOf", 26)), connections) is None
    assert mcp_tool(SERVER, Definition("x", "", ZOD), connections) is not None


def test_the_cost_of_a_check_is_that_of_each_part_at_each_place() -> None:
    schema: JsonObject = {"items": {"type": "integer"}}
    for _ in range(5):
        schema = {"anyOf": [{"items": schema}, {"items": schema, "minItems": 1}]}
    node = translate({"properties": {"a": schema}})

    def cost(width: int) -> int:
        value: Any = ["x"] * width
        for _ in range(5):
            value = [value]
        return count_steps(lambda: node.problems({"a": value}))

    assert cost(4_000) < 3 * cost(2_000)


def test_a_definition_that_is_too_large_is_refused_before_it_is_translated() -> None:
    assert unusable(Definition("x", "y" * MAX_DEFINITION), SERVER) == "its definition is too large"


# What follows: our checks agree with those of a library of JSON Schema on the part that both understand.

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, 1.0, 1.5, -2.0]),
    st.sampled_from(["", "a", "bb"]),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from("abc"), inside, max_size=3),
    max_leaves=8,
)
_KINDS = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])
_SMALL = st.integers(0, 3)


def _schemas(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inside, min_size=1, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": _KINDS | st.lists(_KINDS, min_size=1, max_size=3, unique=True),
        "properties": st.dictionaries(st.sampled_from("abc"), inside, max_size=3),
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        "additionalProperties": inside,
        "propertyNames": inside,
        "minProperties": _SMALL,
        "maxProperties": _SMALL,
        "prefixItems": several,
        "items": inside,
        "minItems": _SMALL,
        "maxItems": _SMALL,
        "uniqueItems": st.booleans(),
        "enum": st.lists(_VALUES, min_size=1, max_size=3),
        "const": _VALUES,
        "minimum": st.integers(-3, 3),
        "maximum": st.integers(-3, 3) | st.just(1.5),
        "exclusiveMinimum": st.integers(-3, 3),
        "exclusiveMaximum": st.integers(-3, 3),
        "multipleOf": st.integers(1, 3),
        "minLength": _SMALL,
        "maxLength": _SMALL,
        "anyOf": several,
        "oneOf": several,
        "allOf": several,
        "not": inside,
        "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two"]),
        "description": st.just("Words."),
        "format": st.just("email"),
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    return st.booleans() | chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


_SCHEMAS: st.SearchStrategy[Any] = st.recursive(st.booleans() | st.just({}), _schemas, max_leaves=6)


@given(a=_SCHEMAS, one=_SCHEMAS, value=_VALUES)
def test_our_checks_agree_with_a_library_of_json_schema(a: Any, one: Any, value: Any) -> None:
    schema: JsonObject = {"properties": {"a": a}, "$defs": {"one": one, "two": {"type": ["array", "string"]}}}
    if (why := unusable(Definition("x", "", schema), SERVER)) != "":
        event(why)
        assert why in ("its parameters refer to themselves", f"its parameters come to more than {MAX_NODES} parts")
        return
    ours = translate(schema)
    library = Draft202012Validator(schema)
    assert (ours.problems({"a": value}) == []) == library.is_valid({"a": value})
    shown = Draft202012Validator(ours.shown)
    shown.check_schema(ours.shown)
    assert shown.is_valid({"a": value}) == library.is_valid({"a": value}), "the model is shown the same"
