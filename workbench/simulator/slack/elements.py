"""Block Kit's elements: reference/block-kit/block-elements, a check for each kind that the assistant sends."""

from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.composition import check_options, check_style, check_text
from workbench.simulator.slack.errors import Problems
from workbench.simulator.slack.shapes import Obj, items, obj, text

_COMMON = ("type", "action_id", "focus_on_load")

# Elements allowed in each block: the "works with block types" row of each element's page.
IN_ACTIONS = frozenset({"button", "static_select"})
IN_INPUT = frozenset({"plain_text_input", "static_select"})


def check_element(problems: Problems, value: Json, at: str, allowed: frozenset[str]) -> None:
    """Check an element inside a block that holds the kinds `allowed`."""
    element = obj(value)
    kind = text(element.get("type"))
    if kind not in allowed:
        problems.add(f"unsupported type: {kind or '(none)'}", f"{at}/type")
        return
    problems.string(element, "action_id", at, limits.ACTION_ID, least=1)
    _CHECKS[kind](problems, element, at)


def _button(problems: Problems, element: Obj, at: str) -> None:
    problems.only(element, (*_COMMON, "text", "value", "style", "accessibility_label"), at)
    check_text(problems, element, "text", at, limits.BUTTON_TEXT, needed=True)
    problems.string(element, "value", at, limits.BUTTON_VALUE)
    problems.string(element, "accessibility_label", at, limits.BUTTON_TEXT)
    check_style(problems, element, at)


def _static_select(problems: Problems, element: Obj, at: str) -> None:
    problems.only(element, (*_COMMON, "placeholder", "options", "initial_option"), at)
    check_text(problems, element, "placeholder", at, limits.PLACEHOLDER)
    check_options(problems, element, at, limits.SELECT_OPTIONS)
    # block-elements/select-menu-element: initial_option is among the options.
    if "initial_option" in element and element["initial_option"] not in items(element.get("options")):
        problems.add("must be one of the provided options", f"{at}/initial_option")


def _text_input(problems: Problems, element: Obj, at: str) -> None:
    fields = ("initial_value", "multiline", "min_length", "max_length", "dispatch_action_config")
    problems.only(element, (*_COMMON, "placeholder", *fields), at)
    check_text(problems, element, "placeholder", at, limits.PLACEHOLDER)
    problems.boolean(element, "multiline", at)
    problems.string(element, "initial_value", at, limits.INPUT_LENGTH)
    for key, least in (("min_length", 0), ("max_length", 1)):
        value = element.get(key)
        if value is not None and not (isinstance(value, int) and least <= value <= limits.INPUT_LENGTH):
            problems.add(f"must be an integer from {least} to {limits.INPUT_LENGTH}", f"{at}/{key}")


_CHECKS = {"button": _button, "plain_text_input": _text_input, "static_select": _static_select}
