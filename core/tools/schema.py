"""Read a tool's parameters from its annotations: the schema that the model sees, and the check of its arguments."""

import inspect
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from core.errors import ConfigError
from core.json_types import Json, JsonObject, canonical_hash
from core.tools.context import ToolExecutionContext
from core.tools.docstrings import read_docstring
from core.tools.shown import shown_form


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool's parameters. `fields` maps the function's parameter names to those of `model`.

    `digest` identifies the schema, and `shown` is the model's view of it. Both are computed once, when a
    signature is made, and not in every turn.
    """

    model: type[BaseModel]
    schema: JsonObject
    names: frozenset[str]
    fields: dict[str, str]
    context_name: str = ""
    digest: str = field(init=False)
    shown: JsonObject = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", shown_form(self.schema))
        object.__setattr__(self, "digest", canonical_hash(self.schema))


def read_signature(fn: Callable[..., Any], tool_name: str, *, hidden: Set[str] = frozenset()) -> Signature:
    hints = _hints(fn, tool_name)
    docs = read_docstring(fn.__doc__).parameters
    context_name, names = "", []
    fields: dict[str, Any] = {}
    for index, parameter in enumerate(inspect.signature(fn).parameters.values()):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise _wrong(fn, tool_name, f"cannot take {parameter}; name each parameter")
        if parameter.name not in hints:
            raise _wrong(fn, tool_name, f"has an un-annotated parameter; write `{parameter.name}: str` or what it is")
        if hints[parameter.name] is ToolExecutionContext:
            context_name = parameter.name
            continue
        names.append(parameter.name)
        if parameter.name not in hidden:
            # pydantic reserves names such as `schema` and `_x`: fields get neutral names and an alias.
            fields[f"p{index}"] = (
                hints[parameter.name],
                _field(parameter, hints[parameter.name], docs.get(parameter.name, "")),
            )
    model = _model(fn, tool_name, fields)
    by_name = {str(info.alias): field for field, info in model.model_fields.items()}
    return Signature(model, _schema(model), frozenset(names), by_name, context_name)


def _hints(fn: Callable[..., Any], tool_name: str) -> dict[str, Any]:
    try:
        hints = get_type_hints(fn, include_extras=True)
    except NameError as error:
        raise _wrong(fn, tool_name, f"has an annotation that cannot be read; import {error.name}") from error
    hints.pop("return", None)
    return hints


def _field(parameter: inspect.Parameter, annotation: Any, documented: str) -> FieldInfo:
    default = ... if parameter.default is parameter.empty else parameter.default
    if described := documented or _annotated_text(annotation):
        return Field(default, alias=parameter.name, description=described)  # type: ignore[no-any-return]
    return Field(default, alias=parameter.name)  # type: ignore[no-any-return]


def _annotated_text(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        return next((extra for extra in get_args(annotation)[1:] if isinstance(extra, str)), "")
    return ""


def _model(fn: Callable[..., Any], tool_name: str, fields: dict[str, Any]) -> type[BaseModel]:
    try:
        config = ConfigDict(extra="forbid", allow_inf_nan=False)
        return create_model(f"{tool_name}_arguments", __config__=config, **fields)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise _wrong(fn, tool_name, "has a parameter of a type that JSON cannot hold; use str, int, list, …") from error


def _schema(model: type[BaseModel]) -> JsonObject:
    schema = _without_titles(model.model_json_schema(by_alias=True))
    assert isinstance(schema, dict)  # noqa: S101 - a model's schema is an object
    schema.setdefault("properties", {})
    return schema


def _without_titles(node: Json) -> Json:
    """Drop pydantic's titles, which cost tokens and say nothing; a parameter named `title` stays."""
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _properties(value) if key in ("properties", "$defs") else _without_titles(value)
        for key, value in node.items()
        if key != "title"
    }


def _properties(node: Json) -> Json:
    return {key: _without_titles(value) for key, value in node.items()} if isinstance(node, dict) else node


def _wrong(fn: Callable[..., Any], tool_name: str, problem: str) -> ConfigError:
    code = inspect.unwrap(fn).__code__
    return ConfigError(f"{code.co_filename}:{code.co_firstlineno}: the tool {tool_name} {problem}.")
