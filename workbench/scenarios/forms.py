"""Slack's forms: fields by the names that a person reads, and by the ids that the app gave them."""

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.scenarios.steps import ScenarioError

type Form = Mapping[str, Any]
"""The entered values, by the name of the field."""


def ids_of(blocks: Sequence[Mapping[str, Any]], values: Form) -> dict[str, Any]:
    """Return the entered values by the fields' ids; raise `ScenarioError` if there is no such field."""
    ids = {_label(block): str(block["block_id"]) for block in blocks if block.get("type") == "input"}
    if strange := [name for name in values if name not in ids]:
        raise ScenarioError(f"The form has no field {strange[0]!r}, but {', '.join(ids)}.")
    return {ids[name]: value for name, value in values.items()}


def names_of(blocks: Sequence[Mapping[str, Any]], values: Form) -> dict[str, Any]:
    """Return the entered values by the fields' names, from values by the id of a block or of its element."""
    named: dict[str, Any] = {}
    for block in blocks:
        if block.get("type") != "input":
            continue
        for id in (block["block_id"], block["element"].get("action_id")):
            if id in values and values[id] not in (None, "", []):
                named[_label(block)] = values[id]
    return named


def _label(block: Mapping[str, Any]) -> str:
    return str(block["label"]["text"])
