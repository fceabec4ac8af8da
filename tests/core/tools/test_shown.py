"""Parameters as the model is shown them: as short as they can be, and of the same meaning."""

from core.json_types import JsonObject
from core.tools.shown import shown_form

PLACE: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}}


def test_what_one_place_refers_to_stands_there() -> None:
    ways: JsonObject = {"type": "array", "items": {"$ref": "#/$defs/Place", "description": "By way of."}}
    shown = shown_form({"properties": {"ways": ways}, "$defs": {"Place": PLACE}})
    assert shown == {"properties": {"ways": {"type": "array", "items": PLACE | {"description": "By way of."}}}}


def test_what_several_places_refer_to_or_itself_stays_a_definition() -> None:
    place: JsonObject = {"$ref": "#/$defs/Place"}
    tree: JsonObject = {"properties": {"below": {"$ref": "#/$defs/Tree"}}}
    schema: JsonObject = {"properties": {"a": place, "b": place, "$ref": {"type": "string"}}, "$defs": {"Place": PLACE}}
    assert shown_form(schema) == schema
    alone: JsonObject = {"properties": {"tree": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}}
    assert shown_form(alone) == alone
