"""Our calls against what the providers publish, in all that the descriptions describe.

`NEWER` is the one list of what Slack's description of 2021 lacks and we use: that is held against the
installed SDK's own signatures and block models instead.
"""

import inspect
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from jsonschema import Draft202012Validator
from slack_sdk.models.blocks import Block
from slack_sdk.web.async_client import AsyncWebClient

from tests.workbench.simulator.test_telegram_published import problems
from workbench.simulator.journal import Call

type Obj = dict[str, Any]

NEWER: dict[str, set[str]] = {
    "assistant.threads.setStatus": {"*"},
    "chat.postMessage": {"metadata"},
    "conversations.history": {"include_all_metadata"},
    "conversations.replies": {"include_all_metadata"},
    "files.completeUploadExternal": {"*"},
    "files.getUploadURLExternal": {"*"},
}
"""By method, the arguments that Slack's description lacks; `*`: it lacks the method."""
NEWER_BLOCKS = {"markdown"}
"""Kinds of blocks that came after it. It describes no blocks at all: the SDK's models do."""

_SERVICES = ("list", "fetch", "update", "numbers", "campaigns")
TWILIO_ELSEWHERE = {"twilio.alerts.list", *(f"twilio.services.{call}" for call in _SERVICES)}
"""Twilio describes Messaging Services and alerts in other files (messaging v1, monitor v1): the SDK makes these."""

_LIMIT = re.compile(r"\b(\d+)-(\d+) (characters|bytes)")
_CHOICE = re.compile(r"(?:one of|can be) (\".*)")


# Twilio: OpenAPI 3


def twilio_problems(spec: Obj, call: Call) -> list[str]:
    """List where a call differs from Twilio's description."""
    asked = cast(Obj, call.request)
    path, _, query = str(asked["url"]).removeprefix("/twilio").partition("?")
    described = _operation(spec, path, asked["method"])
    if described is None:
        return [f"{asked['method']} {path}: not described"]
    operation, places = described
    where = operation["operationId"]
    parameters = {(parameter["in"], parameter["name"]): parameter for parameter in operation.get("parameters", [])}
    given = [("path", name, value) for name, value in places.items()]
    given += [("query", name, value) for name, value in parse_qsl(query, keep_blank_values=True)]
    wrong = [f"{where}: {place} {name} is no parameter" for place, name, _ in given if (place, name) not in parameters]
    for place, name, value in given:
        if parameter := parameters.get((place, name)):
            wrong += _unfit(spec, parameter["schema"], value, f"{where}.{name}")
    needed = {key for key, parameter in parameters.items() if parameter.get("required")}
    wrong += [f"{where}: {name} is missing" for _, name in needed - {(place, name) for place, name, _ in given}]
    return wrong + _form_problems(spec, operation, asked["body"] or {}, where)


def _operation(spec: Obj, path: str, method: str) -> tuple[Obj, dict[str, str]] | None:
    for template, item in spec["paths"].items():
        match = _pattern(template).fullmatch(path)
        if match and method.lower() in item:
            return item[method.lower()], match.groupdict()
    return None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+?)", re.escape(template)))


def _form_problems(spec: Obj, operation: Obj, form: Obj, where: str) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {})
    schema: Obj = content.get("application/x-www-form-urlencoded", {}).get("schema", {})
    properties = schema.get("properties", {})
    wrong = [f"{where}: {name} is no field" for name in form.keys() - properties.keys()]
    wrong += [f"{where}: {name} is missing" for name in schema.get("required", ()) if name not in form]
    for name in form.keys() & properties.keys():
        wrong += _unfit(spec, properties[name], form[name], f"{where}.{name}")
    return wrong


def _unfit(spec: Obj, schema: Obj, value: Any, where: str) -> list[str]:
    schema = _resolved(spec, schema)
    rules = {name: rule for name, rule in schema.items() if name not in ("description", "title", "example", "format")}
    wrong = [f"{where}: {error.message}" for error in Draft202012Validator(rules).iter_errors(_typed(schema, value))]
    for text in value if isinstance(value, list) else [value]:
        match schema.get("format") or schema.get("items", {}).get("format"):
            # An empty value takes a setting away (docs: incomingphonenumber-resource).
            case "uri" if text and not (urlsplit(text).scheme in ("http", "https") and urlsplit(text).hostname):
                wrong.append(f"{where}: no URI")
            case "phone-number" if not re.fullmatch(r"\+[1-9]\d{6,14}", text):
                wrong.append(f"{where}: no phone number")
            case "date-time" if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text):
                wrong.append(f"{where}: no time")
    return wrong


def _resolved(spec: Obj, schema: Obj) -> Obj:
    if "$ref" in schema:
        target: Any = spec
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return _resolved(spec, target)
    if "items" in schema:
        return schema | {"items": _resolved(spec, schema["items"])}
    return schema


def _typed(schema: Obj, value: Any) -> Any:
    """Read a form's words as the type that they should be; what cannot be read stays text."""
    match schema.get("type"):
        case "array":
            return [_typed(schema["items"], item) for item in (value if isinstance(value, list) else [value])]
        case "integer" if re.fullmatch(r"-?\d+", str(value)):
            return int(value)
        case "boolean" if value in ("true", "false"):
            return value == "true"
    return value


# Slack: Swagger 2, and the SDK


def slack_problems(spec: Obj, call: Call) -> list[str]:
    """List where a call differs from Slack's description, apart from `NEWER`."""
    method, given = call.endpoint.removeprefix("slack."), slack_arguments(call)
    newer = NEWER.get(method, set())
    if "*" in newer:
        return [f"{method}: is described by now"] if f"/{method}" in spec["paths"] else []
    (operation,) = spec["paths"][f"/{method}"].values()
    described = {parameter["name"]: parameter for parameter in operation["parameters"]}
    wrong = [f"{method}: {name} is described by now" for name in newer & described.keys()]
    wrong += [f"{method}: {name} is no argument" for name in given.keys() - described.keys() - newer]
    needed = {name for name, parameter in described.items() if parameter.get("required") and name != "token"}
    wrong += [f"{method}: {name} is missing" for name in needed - given.keys()]
    for name in given.keys() & described.keys():
        if not _is_slack(described[name], given[name]):
            wrong.append(f"{method}.{name}: no {described[name]['type']}")
    return wrong


def sdk_problems(call: Call) -> list[str]:
    """List what the SDK's own method does not know, and blocks that its models refuse."""
    method, given = call.endpoint.removeprefix("slack."), slack_arguments(call)
    known = inspect.signature(getattr(AsyncWebClient, method.replace(".", "_"))).parameters
    wrong = [f"{method}: {name} is not the SDK's" for name in given.keys() - known.keys()]
    blocks = given.get("blocks", given.get("view", {}).get("blocks", []))
    for block in blocks:
        parsed = Block.parse(block)
        if parsed is None or type(parsed) is Block:
            wrong.append(f"{method}: the SDK knows no block {block.get('type')}")
        else:
            parsed.validate_json()  # raises SlackObjectFormationError
    return wrong


def slack_arguments(call: Call) -> Obj:
    """Return a call's arguments, from its query and its body."""
    asked = cast(Obj, call.request)
    query = dict(parse_qsl(asked["url"].partition("?")[2], keep_blank_values=True))
    return query | (asked["body"] if isinstance(asked["body"], dict) else {})


def _is_slack(parameter: Obj, value: Any) -> bool:
    if "enum" in parameter and value not in parameter["enum"]:
        return False
    match parameter["type"]:
        case "boolean":
            return isinstance(value, bool) or value in ("true", "false", "1", "0")
        case "integer":
            return not isinstance(value, bool) and re.fullmatch(r"\d+", str(value)) is not None
        case "number":
            return not isinstance(value, bool) and re.fullmatch(r"\d+(\.\d+)?", str(value)) is not None
        case _:
            # What the description calls "JSON-based, presented as a URL-encoded string" goes as JSON in a JSON body.
            return isinstance(value, str) or parameter["name"] in ("blocks", "view")


# Telegram: the Bot API's page as data


def telegram_problems(spec: Obj, call: Call) -> list[str]:
    """List where a call differs from the Bot API's description, with the limits and choices in its sentences."""
    name, asked = call.endpoint.removeprefix("telegram."), cast(Obj, call.request)
    fields = {parameter["name"]: parameter for parameter in spec["methods"][name].get("fields", [])}
    query = dict(parse_qsl(asked["url"].partition("?")[2], keep_blank_values=True))
    given = query | (asked["body"] if isinstance(asked["body"], dict) else {})
    wrong = [f"{name}: {key} is no parameter" for key in given.keys() - fields.keys()]
    wrong += [f"{name}: {key} is missing" for key, field in fields.items() if field["required"] and key not in given]
    for key in given.keys() & fields.keys():
        value = _decoded(given[key], fields[key]["types"])
        wrong += problems(spec, value, fields[key]["types"], f"{name}.{key}")
        wrong += _beyond(spec, value, fields[key], f"{name}.{key}")
    return wrong


def _decoded(value: Any, kinds: list[str]) -> Any:
    if not isinstance(value, str) or kinds == ["String"]:
        return value
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return value if "String" in kinds and not isinstance(decoded, int) else decoded


def _beyond(spec: Obj, value: Any, field: Obj, where: str) -> list[str]:
    """List what breaks a limit or a choice, here or deeper."""
    wrong = []
    if isinstance(value, str):
        if limit := _LIMIT.search(field["description"]):
            size = len(value.encode()) if limit[3] == "bytes" else len(value.encode("utf-16-le")) // 2
            if not int(limit[1]) <= size <= int(limit[2]):
                wrong.append(f"{where}: {size} {limit[3]}, not {limit[1]} to {limit[2]}")
        if (choice := _CHOICE.search(field["description"])) and value not in (names := _names(choice[1])):
            wrong.append(f"{where}: {value} is none of {names}")
    for kind, inner, place in _inner(value, field["types"], where):
        described = {parameter["name"]: parameter for parameter in spec["types"].get(kind, {}).get("fields", [])}
        for name in inner.keys() & described.keys():
            wrong += _beyond(spec, inner[name], described[name], f"{place}.{name}")
    return wrong


def _inner(value: Any, kinds: list[str], where: str) -> Iterator[tuple[str, Obj, str]]:
    """Yield every object in a value with the type that it should be of."""
    if isinstance(value, dict):
        yield kinds[0], value, where
    elif isinstance(value, list):
        inner = [kind.removeprefix("Array of ") for kind in kinds]
        for index, item in enumerate(value):
            yield from _inner(item, inner, f"{where}[{index}]")


def _names(sentence: str) -> set[str]:
    return set(re.findall(r'"(\w+)"', sentence))
