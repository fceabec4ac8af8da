"""Parse rules from a TOML file when the process starts, with errors for the author of the file."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import regex
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from abilities.rules.rules import Condition, RuleBook, ToolRule
from core.errors import ConfigError
from core.hooks.hooks import Decision
from core.tools.storage import Storage
from core.tools.toml_file import read_toml
from core.tools.tool import Risk


def read_rules(path: Path, storage: Storage | None = None) -> RuleBook:
    """Return the rules that are switched on. Raises `ConfigError`: a sentence with the file and the rule."""
    data = read_toml(path, "ONEVALET_RULES")
    try:
        read = _File.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_problem(path, data, error)) from error
    names = [rule.name for rule in read.rules]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path} has two rules named {twice[0]!r}; rename one of them.")
    return RuleBook([_rule(rule) for rule in read.rules if rule.on], read.default, storage)


def _compiles(pattern: str) -> str:
    try:
        regex.compile(pattern, regex.IGNORECASE)
    except regex.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    return pattern


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Condition(_Strict):
    argument: str = Field(min_length=1)
    equals: tuple[str | int | float | bool, ...] = ()
    matches: Annotated[str, AfterValidator(_compiles)] = ""
    above: Decimal | None = None
    below: Decimal | None = None
    first_time: bool = False

    @model_validator(mode="after")
    def _asks_something(self) -> "_Condition":
        if not (self.equals or self.matches or self.first_time) and self.above is None and self.below is None:
            raise ValueError("needs one of equals, matches, above, below, first_time")
        return self


class _ToolRule(_Strict):
    name: str = Field(min_length=1)
    on: bool = True
    tools: tuple[str, ...] = Field(default=("*",), min_length=1)
    channels: tuple[str, ...] = ()
    when: tuple[_Condition, ...] = ()
    decision: Decision
    reason: str = ""
    risk: Risk = ""


class _File(_Strict):
    default: Decision = Decision.ALLOW
    rules: tuple[_ToolRule, ...] = ()


def _rule(read: _ToolRule) -> ToolRule:
    return ToolRule(
        name=read.name,
        decision=read.decision,
        tools=read.tools,
        channels=read.channels,
        when=tuple(Condition(**dict(condition)) for condition in read.when),
        reason=read.reason,
        risk=read.risk,
    )


def _problem(path: Path, data: dict[str, object], error: ValidationError) -> str:
    first = error.errors()[0]
    place = list(first["loc"])
    where = str(path)
    rules = data.get("rules")
    if place[:1] == ["rules"] and len(place) > 1 and isinstance(place[1], int) and isinstance(rules, list):
        rule = rules[place[1]]
        name = rule.get("name") if isinstance(rule, dict) else None
        where += f", rule {name!r}" if name else f", rule {place[1] + 1}"
        place = place[2:]
    field = ".".join(str(part) for part in place)
    return f"{where}: {field}{': ' if field else ''}{first['msg'].removeprefix('Value error, ')}."
