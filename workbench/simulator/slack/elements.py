"""Block Kit's elements: reference/block-kit/block-elements, a check for each kind."""

from collections.abc import Callable
from urllib.parse import urlsplit

from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.composition import ANY_TEXT, check_confirm, check_options, check_style, check_text
from workbench.simulator.slack.errors import Problems
from workbench.simulator.slack.shapes import Obj, items, obj, text

type Check = Callable[[Problems, Obj, str], None]

_COMMON = ("type", "action_id", "confirm", "focus_on_load")
_PICKERS = ("datepicker", "timepicker", "datetimepicker")
_SELECTS = (
    "static_select",
    "external_select",
    "users_select",
    "conversations_select",
    "channels_select",
    "multi_static_select",
    "multi_external_select",
    "multi_users_select",
    "multi_conversations_select",
    "multi_channels_select",
)
_TYPED = ("plain_text_input", "email_text_input", "url_text_input", "number_input")

# Elements allowed in each block: the "works with block types" row of each element's page.
IN_ACTIONS = frozenset({"button", "checkboxes", "overflow", "radio_buttons", *_PICKERS, *_SELECTS})
IN_SECTION = IN_ACTIONS | {"image"}
IN_INPUT = frozenset({"checkboxes", "radio_buttons", "rich_text_input", *_PICKERS, *_SELECTS, *_TYPED})
IN_CONTEXT_ACTIONS = frozenset({"feedback_buttons", "icon_button"})


def check_element(problems: Problems, value: Json, at: str, allowed: frozenset[str]) -> None:
    """Check an element inside a block that holds the kinds `allowed`."""
    element = obj(value)
    kind = text(element.get("type"))
    if kind not in allowed:
        problems.add(f"unsupported type: {kind or '(none)'}", f"{at}/type")
        return
    if kind != "image":
        problems.string(element, "action_id", at, limits.ACTION_ID, least=1)
        check_confirm(problems, element, at)
    check = _CHECKS.get(kind)
    if check is not None:
        check(problems, element, at)


def check_url(problems: Problems, owner: Obj, key: str, at: str, *, needed: bool = False) -> None:
    """Check a link field: 3,000 characters, http or https."""
    problems.string(owner, key, at, limits.BUTTON_URL, least=1, needed=needed)
    if text(owner.get(key)) and urlsplit(text(owner[key])).scheme not in ("http", "https"):
        problems.add("invalid url", f"{at}/{key}")


def _button(problems: Problems, element: Obj, at: str) -> None:
    problems.only(element, (*_COMMON, "text", "url", "value", "style", "accessibility_label"), at)
    check_text(problems, element, "text", at, limits.BUTTON_TEXT, needed=True)
    problems.string(element, "value", at, limits.BUTTON_VALUE)
    problems.string(element, "accessibility_label", at, limits.BUTTON_TEXT)
    check_url(problems, element, "url", at)
    check_style(problems, element, at)


def _image(problems: Problems, element: Obj, at: str) -> None:
    problems.only(element, ("type", "image_url", "slack_file", "alt_text"), at)
    problems.string(element, "alt_text", at, limits.ALT_TEXT, least=1, needed=True)
    if "slack_file" not in element:
        check_url(problems, element, "image_url", at, needed=True)


def _overflow(problems: Problems, element: Obj, at: str) -> None:
    problems.only(element, (*_COMMON, "options"), at)
    check_options(problems, element, at, limits.OVERFLOW_OPTIONS)


def _choices(problems: Problems, element: Obj, at: str) -> None:
    problems.only(element, (*_COMMON, "options", "initial_options", "initial_option"), at)
    check_options(problems, element, at, limits.CHOICE_OPTIONS, kinds=ANY_TEXT)


def _static_select(problems: Problems, element: Obj, at: str) -> None:
    check_text(problems, element, "placeholder", at, limits.PLACEHOLDER)
    check_options(problems, element, at, limits.SELECT_OPTIONS)
    # block-elements/select-menu-element: initial_option is exactly one of the options.
    if "initial_option" in element and element["initial_option"] not in items(element.get("options")):
        problems.add("must be one of the provided options", f"{at}/initial_option")


def _placeholder(problems: Problems, element: Obj, at: str) -> None:
    check_text(problems, element, "placeholder", at, limits.PLACEHOLDER)


def _text_input(problems: Problems, element: Obj, at: str) -> None:
    fields = ("initial_value", "multiline", "min_length", "max_length", "dispatch_action_config")
    problems.only(element, (*_COMMON, "placeholder", *fields), at)
    _placeholder(problems, element, at)
    problems.boolean(element, "multiline", at)
    problems.string(element, "initial_value", at, limits.INPUT_LENGTH)
    for key, least in (("min_length", 0), ("max_length", 1)):
        value = element.get(key)
        if value is not None and not (isinstance(value, int) and least <= value <= limits.INPUT_LENGTH):
            problems.add(f"must be an integer from {least} to {limits.INPUT_LENGTH}", f"{at}/{key}")


def _number(problems: Problems, element: Obj, at: str) -> None:
    _placeholder(problems, element, at)
    if "is_decimal_allowed" not in element:
        problems.add("missing required field: is_decimal_allowed", at)


def _feedback(problems: Problems, element: Obj, at: str) -> None:
    for key in ("positive_button", "negative_button"):
        button, where = obj(element.get(key)), f"{at}/{key}"
        if not button:
            problems.add(f"missing required field: {key}", at)
            continue
        check_text(problems, button, "text", where, limits.BUTTON_TEXT, needed=True)
        problems.string(button, "value", where, limits.BUTTON_VALUE, needed=True)


def _icon(problems: Problems, element: Obj, at: str) -> None:
    check_text(problems, element, "text", at, limits.BUTTON_TEXT, needed=True)
    problems.among(element.get("icon"), ("trash",), f"{at}/icon")


_CHECKS: dict[str, Check] = {
    "button": _button,
    "image": _image,
    "overflow": _overflow,
    "checkboxes": _choices,
    "radio_buttons": _choices,
    "static_select": _static_select,
    "multi_static_select": _static_select,
    "plain_text_input": _text_input,
    "number_input": _number,
    "feedback_buttons": _feedback,
    "icon_button": _icon,
    **dict.fromkeys(("email_text_input", "url_text_input", *_PICKERS, *_SELECTS[1:5]), _placeholder),
}
