"""Cards of made-up calls: two values for each argument of anything that can be asked about, and what is then shown."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import notify.email.render
import notify.slack.render
import notify.sms.render
import notify.telegram.render
import notify.terminal.render
from core.agents.consent import agent_consent
from core.agents.schema import INSTRUCTION, agent_parameters
from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet_of
from core.approvals.cards import card
from core.approvals.consent import ConsentState, ConsentTo
from core.approvals.describe import tool_consent
from core.approvals.requests import ApprovalRequests
from core.approvals.store import ApprovalStore
from core.consents.access import PersonConsents
from core.json_types import Json, JsonObject
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool
from tests.agents.services import no_loop
from tests.clocks import StandingClock
from tests.core.builders import a_context

_RENDERED = (
    notify.email.render.render,
    notify.slack.render.render,
    notify.sms.render.render,
    notify.telegram.render.render,
    notify.terminal.render.render,
)
_FORMATS: Mapping[str, tuple[Json, Json]] = {
    "date": ("2027-01-31", "2027-02-28"),
    "date-time": ("2027-01-31T15:00:00", "2027-01-31T16:00:00"),
    "time": ("15:00:00", "16:00:00"),
}


def two_values(schema: JsonObject, definitions: JsonObject) -> tuple[Json, Json]:
    """Return two different values of a schema, the second with more in it."""
    if reference := schema.get("$ref"):
        return two_values(cast(JsonObject, definitions[str(reference).rpartition("/")[2]]), definitions)
    for branches in ("anyOf", "oneOf", "allOf"):
        if isinstance(found := schema.get(branches), list):
            shown = [cast(JsonObject, one) for one in found]
            return two_values(next(one for one in shown if one.get("type") != "null"), definitions)
    if isinstance(choices := schema.get("enum"), list):
        return choices[0], choices[-1]
    match schema.get("type"):
        case "integer" | "number":
            return 3, 4
        case "boolean":
            return False, True
        case "array":
            first, second = two_values(cast(JsonObject, schema.get("items", {})), definitions)
            return [first], [first, second]
        case "object":
            return _two_objects(schema, definitions)
    return _FORMATS.get(str(schema.get("format")), ("one thing", "another thing"))


def _two_objects(schema: JsonObject, definitions: JsonObject) -> tuple[Json, Json]:
    properties = schema.get("properties")
    inner = schema.get("additionalProperties")
    if not isinstance(properties, dict):
        first, second = two_values(inner if isinstance(inner, dict) else {}, definitions)
        return {"part": first}, {"part": second}
    pairs = {name: two_values(cast(JsonObject, one), definitions) for name, one in properties.items()}
    return {name: pair[0] for name, pair in pairs.items()}, {name: pair[1] for name, pair in pairs.items()}


def calls(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield a call with all arguments, and then one for each argument that differs in it, by its name."""
    properties, definitions = (cast(JsonObject, schema.get(name) or {}) for name in ("properties", "$defs"))
    pairs = {name: two_values(cast(JsonObject, one), definitions) for name, one in properties.items()}
    base: JsonObject = {name: pair[0] for name, pair in pairs.items()}
    yield "", base
    for name, (_, other) in pairs.items():
        yield name, base | {name: other}


class Codes(ApprovalStore):
    """Codes without a database."""

    def __init__(self) -> None: ...

    async def issue_code(self, tenant_id: str, approval_id: str, now: datetime) -> str:
        return "7K"


async def shown(consent: ConsentTo) -> tuple[str, ...]:
    """Return a card as each channel writes it, at its full length."""
    requests = ApprovalRequests(Codes(), "tn", "turn", StandingClock(), make_token=lambda: "t")
    told = await requests.ask(consent)
    assert told.state is ConsentState.PENDING, told
    approval = replace(requests.new[consent.call_id], token="t", created_at=datetime(2026, 11, 23, tzinfo=UTC))
    message = card(approval, "o").message
    return tuple(repr(render(message)) for render in _RENDERED)


def context() -> ToolExecutionContext:
    """Return the context of a call that is only described."""
    consents = cast(Any, PersonConsents)(None, {}, None, "turn", StandingClock(), True)
    return replace(a_context(), consents=consents)


async def card_of_tool(tool: AnyTool, arguments: JsonObject) -> tuple[str, ...]:
    return await shown(tool_consent("c", tool, arguments))


async def card_of_agent(kind: type[StandardAgent], arguments: JsonObject) -> tuple[str, ...]:
    valet = valet_of(kind)
    assert valet is not None

    async def make(given: JsonObject) -> StandardAgent:
        values = {name: valet.inputs[name].from_json(value) for name, value in given.items() if name in valet.inputs}
        return kind(context(), no_loop, values=values)

    return await shown(agent_consent("c", valet, arguments, make))


async def hidden_of_tool(tool: AnyTool) -> set[str]:
    """Return the arguments of a tool that can differ while its card does not."""
    told = {name: await card_of_tool(tool, arguments) for name, arguments in calls(tool.signature.schema)}
    return _same(told)


async def hidden_of_agent(kind: type[StandardAgent], more: Mapping[str, tuple[Json, Json]]) -> set[str]:
    """Return the fields of an agent that can differ while its card does not; `more`: values for some of them."""
    valet = valet_of(kind)
    assert valet is not None
    schema = agent_parameters(valet)
    properties = cast(JsonObject, schema["properties"])
    schema = schema | {"properties": {name: one for name, one in properties.items() if name != INSTRUCTION}}
    told = {}
    for name, arguments in calls(schema):
        given = arguments | {key: pair[key == name] for key, pair in more.items()}
        told[name] = await card_of_agent(kind, given)
    return _same(told)


def _same(told: Mapping[str, tuple[str, ...]]) -> set[str]:
    return {
        name
        for name, said in told.items()
        if name and any(one == other for one, other in zip(said, told[""], strict=True))
    }
