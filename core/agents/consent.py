"""The request for consent to an agent's run: the agent's own words, a form of its fields, a check of changes."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import timedelta
from functools import lru_cache

from core.agents.field_collection import collect
from core.agents.fields import InputField
from core.agents.schema import INSTRUCTION, agent_parameters
from core.agents.standard_agent import ApprovalRequest, StandardAgent, Valet
from core.approvals.consent import ConsentTo, Described
from core.approvals.edits import Check, as_it_was, form_of
from core.consents.shape import Target
from core.errors import ToolRetry
from core.json_types import Json, JsonObject, is_empty
from core.language.catalogue import gettext, name_in_words
from core.messaging.messages import FormField


def agent_consent(
    call_id: str, valet: Valet, arguments: JsonObject, make: Callable[[JsonObject], Awaitable[StandardAgent]]
) -> ConsentTo:
    """Return the request for consent to an agent's run; `make` returns the agent with other arguments."""
    inputs = valet.inputs

    async def describe(given: JsonObject) -> Described:
        agent = await make(given)
        await agent.on_asking()
        request: ApprovalRequest = agent.approval_request()
        optional = (name for name, field in inputs.items() if not field.required and is_empty(field.default))
        return Described(
            request.action_summary,
            dict(request.details),
            _labels(inputs),
            frozenset(optional),
            agent_form(inputs, _properties(valet, request.in_words), given),
            None if request.timeout_minutes is None else timedelta(minutes=request.timeout_minutes),
            request.editable,
            frozenset(request.in_words),
        )

    check = agent_check(inputs, (INSTRUCTION,), _properties(valet, ()))
    return ConsentTo(call_id, valet.name, arguments, describe, check, valet.risk)


@lru_cache(1024)
def target_of_valet(valet: Valet) -> Target:
    """Return an agent as consents in advance see it."""
    schema, high = agent_parameters(valet), valet.risk == "high"
    return Target(valet.name, schema, valet.standing, high, valet.addresses)


def _labels(inputs: Mapping[str, InputField]) -> dict[str, str]:
    return {name: field.label for name, field in inputs.items()} | {INSTRUCTION: gettext("instruction")}


def _properties(valet: Valet, without: Collection[str]) -> JsonObject:
    properties = agent_parameters(valet).get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: schema for name, schema in properties.items() if name in valet.inputs and name not in without}


def agent_form(inputs: Mapping[str, InputField], schemas: JsonObject, arguments: JsonObject) -> tuple[FormField, ...]:
    """Return the form for an agent's fields; `schemas` are the fields' JSON schemas as the model sees them."""
    required = [name for name, field in inputs.items() if field.required]
    patterns = {name: field.pattern for name, field in inputs.items() if field.pattern}
    checked = {name: _with_pattern(schema, patterns.get(name)) for name, schema in schemas.items()}
    return form_of(checked, arguments, required, {name: field.wanted for name, field in inputs.items()})


def _with_pattern(schema: Json, pattern: str | None) -> Json:
    return schema | {"pattern": pattern} if pattern and isinstance(schema, dict) else schema


def agent_check(inputs: Mapping[str, InputField], rest: tuple[str, ...], schemas: JsonObject | None = None) -> Check:
    """Return a check of changed fields by their validators; `rest` names the arguments that are no fields.

    `schemas` are the fields' schemas as a form shows them; an untouched default is no change.
    """

    def check(arguments: JsonObject, changes: JsonObject) -> JsonObject:
        shown = schemas or {}
        changes = {
            name: value for name, value in changes.items() if not as_it_was(shown.get(name), arguments, name, value)
        }
        unknown = [name for name in changes if name not in inputs]
        if unknown:
            raise ToolRetry(
                gettext(
                    "There is no {field} to change; there are {fields}.",
                    field=name_in_words(unknown[0]),
                    fields=", ".join(field.label for field in inputs.values()),
                )
            )
        known = {name: value for name, value in arguments.items() if name in inputs}
        cleared = {name for name, value in changes.items() if value in ("", None) and not inputs[name].required}
        collected = collect(inputs, {k: v for k, v in known.items() if k not in cleared}, changes)
        missing = [name for name in collected.missing if inputs[name].required]
        if collected.wrong or missing:
            wrong = collected.wrong or dict.fromkeys(missing, gettext("it is missing"))
            raise ToolRetry("; ".join(f"{inputs[name].label}: {error.rstrip('.')}" for name, error in wrong.items()))
        return collected.fields | {name: arguments[name] for name in rest if name in arguments}

    return check
