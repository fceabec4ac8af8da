"""An agent as the model sees it: its fields as a JSON schema, with descriptions that help to fill them in."""

from core.agents.fields import InputField
from core.agents.standard_agent import StandardAgent, Valet
from core.json_types import Json, JsonObject, object_of
from core.llm.types import ToolSpec

INSTRUCTION = "task_instruction"
APPROVAL_NOTE = "[Requires user confirmation before execution]"

_ASKS = "Leave out what the person did not say, even if required: they are then asked."
_INSTRUCTION_SAYS = 'What else they want. Example: "Keep it short."'


def agent_spec(valet: Valet) -> ToolSpec:
    """Return an agent's name, description and parameters for the model."""
    parts = [valet.description]
    if any(field.required for field in valet.inputs.values()):
        parts.append(_ASKS)
    if valet.agent.needs_approval is not StandardAgent.needs_approval:
        parts.append(APPROVAL_NOTE)
    return ToolSpec(valet.name, " ".join(parts), agent_parameters(valet))


def agent_parameters(valet: Valet) -> JsonObject:
    """Return the parameters' JSON schema: a property per input field, and `task_instruction`."""
    schema: JsonObject = {
        "type": "object",
        "properties": {
            **{name: field_schema(field) for name, field in valet.inputs.items()},
            INSTRUCTION: {"type": "string", "description": _INSTRUCTION_SAYS},
        },
        "additionalProperties": False,
    }
    required: list[Json] = [name for name, field in valet.inputs.items() if field.required]
    shared = {
        name: schema
        for field in valet.inputs.values()
        for name, schema in object_of(field.schema().get("$defs")).items()
    }
    return schema | ({"required": required} if required else {}) | ({"$defs": shared} if shared else {})


def field_schema(field: InputField) -> JsonObject:
    """Return a field's schema: the type's schema with the descriptions of field and validator, and the default."""
    schema = {key: value for key, value in field.schema().items() if key != "$defs"}
    description = field.description or field.prompt
    if field.validator and field.validator_description:
        description = f"{description} ({field.validator_description})"
    schema["description"] = description
    if not field.required and field.default is not None:
        schema["default"] = field.to_json(field.default)
    return schema
