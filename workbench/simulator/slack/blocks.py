"""Block Kit's blocks: reference/block-kit/blocks, a check for each kind.

Emulated are the kinds that the assistant sends. All others are refused as unsupported.
"""

from collections.abc import Callable
from enum import StrEnum

from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.composition import ANY_TEXT, check_text, check_text_object
from workbench.simulator.slack.elements import IN_ACTIONS, IN_INPUT, check_element
from workbench.simulator.slack.errors import Problems
from workbench.simulator.slack.shapes import Obj, items, obj, text

type Check = Callable[[Problems, Obj, str], None]


class Surface(StrEnum):
    """Places of blocks."""

    MESSAGE = "message"
    MODAL = "modal"
    HOME = "home"


# The "available in surfaces" row of each block's page.
_EVERYWHERE = frozenset({"actions", "context", "header", "input", "section"})
_KINDS = {
    Surface.MESSAGE: _EVERYWHERE | {"markdown"},
    Surface.MODAL: _EVERYWHERE,
    Surface.HOME: _EVERYWHERE,
}


def block_problems(blocks: Json, surface: Surface, at: str = "/blocks") -> list[str]:
    """Find everything wrong with a list of blocks; an empty list means that Slack takes it."""
    problems = Problems()
    most = limits.MESSAGE_BLOCKS if surface is Surface.MESSAGE else limits.VIEW_BLOCKS
    if not isinstance(blocks, list):
        problems.add("must be an array", at)
        return problems.found
    if len(blocks) > most:
        problems.add(f"no more than {most} items allowed", at)
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        _check_block(problems, block, f"{at}/{index}", surface, seen)
    if sum(_markdown_length(block) for block in blocks) > limits.MARKDOWN_BLOCKS:
        problems.add(f"markdown blocks must be less than {limits.MARKDOWN_BLOCKS + 1} characters", at)
    return problems.found


def text_length(value: Json) -> int:
    """Count the characters that blocks show: every text, title, label and value in them."""
    if isinstance(value, list):
        return sum(text_length(item) for item in value)
    if not isinstance(value, dict):
        return 0
    own = sum(len(part) for key, part in value.items() if key in ("text", "alt_text") and isinstance(part, str))
    return own + sum(text_length(item) for item in value.values())


def _check_block(problems: Problems, value: Json, at: str, surface: Surface, seen: set[str]) -> None:
    if not isinstance(value, dict):
        problems.add("must provide an object", at)
        return
    kind = text(value.get("type"))
    if kind not in _KINDS[surface]:
        problems.add(f"unsupported type: {kind or '(none)'}", f"{at}/type")
        return
    problems.string(value, "block_id", at, limits.BLOCK_ID)
    block_id = text(value.get("block_id"))
    if block_id and block_id in seen:
        problems.add(f'`block_id` "{block_id}" already exists for another block', f"{at}/block_id")
    seen.add(block_id)
    _CHECKS[kind](problems, value, at)
    _check_action_ids(problems, value, at)


def _check_action_ids(problems: Problems, block: Obj, at: str) -> None:
    # block-elements/button-element: an action_id is unique among those of the block that contains it.
    ids = [text(obj(element).get("action_id")) for element in items(block.get("elements"))]
    for double in sorted({action_id for action_id in ids if action_id and ids.count(action_id) > 1}):
        problems.add(f'`action_id` "{double}" already exists for another element', f"{at}/elements")


def _section(problems: Problems, block: Obj, at: str) -> None:
    problems.only(block, ("type", "block_id", "text", "expand"), at)
    check_text(problems, block, "text", at, limits.SECTION_TEXT, kinds=ANY_TEXT, needed=True)


def _actions(problems: Problems, block: Obj, at: str) -> None:
    problems.only(block, ("type", "block_id", "elements"), at)
    for index, element in enumerate(problems.listed(block, "elements", at, limits.ACTIONS_ELEMENTS)):
        check_element(problems, element, f"{at}/elements/{index}", IN_ACTIONS)


def _context(problems: Problems, block: Obj, at: str) -> None:
    problems.only(block, ("type", "block_id", "elements"), at)
    for index, element in enumerate(problems.listed(block, "elements", at, limits.CONTEXT_ELEMENTS)):
        check_text_object(problems, element, f"{at}/elements/{index}", limits.TEXT_OBJECT, ANY_TEXT)


def _header(problems: Problems, block: Obj, at: str) -> None:
    problems.only(block, ("type", "block_id", "text", "level"), at)
    check_text(problems, block, "text", at, limits.HEADER_TEXT, needed=True)


def _input(problems: Problems, block: Obj, at: str) -> None:
    known = ("type", "block_id", "label", "element", "dispatch_action", "hint", "optional")
    problems.only(block, known, at)
    check_text(problems, block, "label", at, limits.INPUT_LABEL, needed=True)
    check_text(problems, block, "hint", at, limits.INPUT_LABEL)
    problems.boolean(block, "optional", at)
    problems.boolean(block, "dispatch_action", at)
    if "element" not in block:
        problems.add("missing required field: element", at)
    else:
        check_element(problems, block["element"], f"{at}/element", IN_INPUT)


def _markdown(problems: Problems, block: Obj, at: str) -> None:
    problems.only(block, ("type", "block_id", "text"), at)
    problems.string(block, "text", at, limits.MARKDOWN_BLOCKS, least=1, needed=True)


def _markdown_length(block: Json) -> int:
    return len(text(obj(block).get("text"))) if obj(block).get("type") == "markdown" else 0


_CHECKS: dict[str, Check] = {
    "section": _section,
    "actions": _actions,
    "context": _context,
    "header": _header,
    "input": _input,
    "markdown": _markdown,
}
