"""The rules for a modal and a home tab: reference/views/modal-views, reference/views/home-tab-views."""

import json

from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.blocks import Surface, block_problems
from workbench.simulator.slack.composition import check_text
from workbench.simulator.slack.errors import Problems, Refusal
from workbench.simulator.slack.shapes import Obj, decoded, items, obj

_COMMON = ("type", "blocks", "private_metadata", "callback_id", "external_id")
_MODAL = (*_COMMON, "title", "close", "submit", "clear_on_close", "notify_on_close", "submit_disabled")


def check_view(value: Json, surface: Surface, at: str = "/view") -> Obj:
    """Return the view as an object, or refuse it: invalid_arguments with each problem, or view_too_large."""
    try:
        view = decoded(value)
    except ValueError:
        raise Refusal("invalid_arguments", [f"must be valid JSON [json-pointer:{at}]"]) from None
    if not isinstance(view, dict):
        raise Refusal("invalid_arguments", [f"must provide an object [json-pointer:{at}]"])
    # methods/views.open, error view_too_large.
    if len(json.dumps(view, ensure_ascii=False).encode()) > limits.VIEW_BYTES:
        raise Refusal("view_too_large")
    if problems := view_problems(view, surface, at):
        raise Refusal("invalid_arguments", problems)
    return view


def view_problems(view: Obj, surface: Surface, at: str = "/view") -> list[str]:
    problems = Problems()
    if view.get("type") != surface.value:
        problems.add("must be a valid enum value", f"{at}/type")
        return problems.found
    problems.only(view, _MODAL if surface is Surface.MODAL else _COMMON, at)
    problems.string(view, "private_metadata", at, limits.PRIVATE_METADATA)
    problems.string(view, "callback_id", at, limits.CALLBACK_ID)
    problems.string(view, "external_id", at, limits.EXTERNAL_ID)
    if "blocks" not in view:
        problems.add("missing required field: blocks", at)
    else:
        problems.found += block_problems(view["blocks"], surface, f"{at}/blocks")
    if surface is Surface.MODAL:
        _modal(problems, view, at)
    return problems.found


def _modal(problems: Problems, view: Obj, at: str) -> None:
    check_text(problems, view, "title", at, limits.VIEW_TITLE, needed=True)
    check_text(problems, view, "close", at, limits.VIEW_TITLE)
    check_text(problems, view, "submit", at, limits.VIEW_TITLE)
    for flag in ("clear_on_close", "notify_on_close", "submit_disabled"):
        problems.boolean(view, flag, at)
    # reference/views/modal-views: submit is required when an input block is within the blocks array.
    if "submit" not in view and any(obj(block).get("type") == "input" for block in items(view.get("blocks"))):
        problems.add("missing required field: submit", at)
