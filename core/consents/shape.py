"""The shape of the calls that a standing consent covers: every parameter of a tool, each with its bound. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from core.consents.sensitive import is_sensitive
from core.errors import ToolRetry
from core.json_types import Json, JsonObject, canonical_hash, canonical_json, is_finite
from core.tools.tool import AnyTool

MAX_TEXT = 4000
"""Characters of a text that may vary."""
MAX_CHOICES = 20
_MAX_SAID = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    """A tool or an agent as consents see it.

    `varying` are the parameters that may differ from call to call under a consent; None: each call is asked about.
    `schema` is the JSON schema of its parameters.
    """

    name: str
    schema: JsonObject
    varying: Sequence[str] | None = None
    high_risk: bool = False
    addresses: Sequence[str] = ()

    @property
    def version(self) -> str:
        """Return the digest of all that a consent relies on: an edit of the tool changes it."""
        varying: Json = None if self.varying is None else list(self.varying)
        return canonical_hash([self.name, self.schema, varying, list(self.addresses)])

    @property
    def parameters(self) -> Mapping[str, JsonObject]:
        properties = self.schema.get("properties")
        if not isinstance(properties, dict):
            return {}
        return {name: schema for name, schema in properties.items() if isinstance(schema, dict)}

    @property
    def always_asks(self) -> bool:
        """Return whether each call needs approval: high risk, money, credentials, or by its author's word."""
        return self.varying is None or self.high_risk or any(map(is_sensitive, (self.name, *self.parameters)))

    def whole(self, arguments: JsonObject) -> JsonObject:
        """Return arguments with the defaults of the parameters that are left out."""
        defaults = {name: schema["default"] for name, schema in self.parameters.items() if "default" in schema}
        return {**defaults, **arguments}


def target_of(tool: AnyTool) -> Target:
    """Return a plain tool as consents in advance see it."""
    return Target(tool.name, tool.signature.schema, tool.standing, tool.risk == "high", tool.addresses)


@dataclass(frozen=True, slots=True)
class WantedConsent:
    """A consent that a person wants to give: one value, several, a range of numbers, or any text up to a length.

    Other arguments stay as in `example`, an approved call, or else at their defaults.
    """

    same: JsonObject
    choices: JsonObject
    ranges: JsonObject
    texts: JsonObject
    example: JsonObject | None = None


def build_shape(target: Target, wanted: WantedConsent) -> JsonObject:
    """Return a bound for every parameter: `is`, `one_of`, `from` and `to`, `text`, or `absent`.

    Raises `ToolRetry` if a parameter would vary that may not, or a bound is not valid.
    """
    if target.always_asks:
        raise ToolRetry(f"{target.name} is never run without asking, so there is no consent in advance to it.")
    given = [*wanted.same, *wanted.choices, *wanted.ranges, *wanted.texts]
    if unknown := [name for name in given if name not in target.parameters]:
        raise ToolRetry(f"{target.name} has no {unknown[0]!r}. It has: {', '.join(target.parameters)}.")
    if twice := [name for name in given if given.count(name) > 1]:
        raise ToolRetry(f"{twice[0]} has two bounds; give one.")
    for name in (*wanted.ranges, *wanted.texts):
        if name not in (target.varying or ()) or name in target.addresses:
            raise ToolRetry(f"{name} of {target.name} may not vary freely: fix it, or give a list of choices.")
    bounds: JsonObject = {name: _choice(name, values) for name, values in wanted.choices.items()}
    bounds |= {name: _range(name, values) for name, values in wanted.ranges.items()}
    bounds |= {name: _text(name, most) for name, most in wanted.texts.items()}
    known = target.whole((wanted.example or {}) | wanted.same)
    for name in target.parameters:
        if name not in bounds:
            bounds[name] = {"is": known[name]} if name in known else {"absent": True}
    if len(canonical_json(bounds)) > _MAX_SAID:
        raise ToolRetry("That is too much to agree to at once.")
    return bounds


def covers(target: Target, bounds: JsonObject, arguments: JsonObject) -> bool:
    """Return whether a call lies within the bounds: each argument has a bound, and is within it."""
    try:
        whole = target.whole(arguments)
        return all(name in bounds for name in whole) and all(
            isinstance(bound, dict) and _within(bound, name in whole, whole.get(name)) for name, bound in bounds.items()
        )
    except (TypeError, ValueError):  # not JSON
        return False


def agrees(same: JsonObject, arguments: JsonObject) -> bool:
    """Return whether an earlier call had these values."""
    return all(name in arguments and _equal(arguments[name], value) for name, value in same.items())


def _within(bound: JsonObject, is_given: bool, value: Json) -> bool:
    if bound.keys() == {"absent"}:
        return not is_given
    if not is_given:
        return False
    if bound.keys() == {"is"}:
        return _equal(value, bound["is"])
    if bound.keys() == {"one_of"}:
        return any(_equal(value, choice) for choice in cast(Sequence[Json], bound["one_of"]))
    if bound.keys() == {"text"}:
        return isinstance(value, str) and len(value) <= cast(int, bound["text"])
    if bound.keys() == {"from", "to"}:
        low, high = cast(int | float, bound["from"]), cast(int | float, bound["to"])
        return _is_number(value) and low <= cast(int | float, value) <= high
    return False


def _equal(one: Json, other: Json) -> bool:
    # Python holds True and 1 for the same; JSON does not.
    return canonical_json(one) == canonical_json(other)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _choice(name: str, values: Json) -> JsonObject:
    if not isinstance(values, list) or not 0 < len(values) <= MAX_CHOICES:
        raise ToolRetry(f"{name}: give 1 to {MAX_CHOICES} choices as a list.")
    return {"one_of": values}


def _range(name: str, values: Json) -> JsonObject:
    if not (isinstance(values, list) and len(values) == 2 and all(map(_is_number, values))):
        raise ToolRetry(f"{name}: give its lowest and its highest number, [low, high].")
    low, high = cast(Sequence[int | float], values)
    if low > high:
        raise ToolRetry(f"{name}: the lowest number comes first.")
    return {"from": low, "to": high}


def _text(name: str, most: Json) -> JsonObject:
    if not isinstance(most, int) or isinstance(most, bool) or not 0 < most <= MAX_TEXT:
        raise ToolRetry(f"{name}: give the most characters that it may have, 1 to {MAX_TEXT}.")
    return {"text": most}
