"""Our forms as Slack's modals; pure.

Source of the limits: docs.slack.dev, reference/views/modal-views and reference/block-kit. Slack does not define its
characters: UTF-16 units are counted, the larger number.
"""

import re
from collections.abc import Iterator

from channels.slack.interactions import FORM
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.messaging.messages import Form, FormField, FormFieldKind
from providers.slack.wire import MAX_SECTION, escape, plain_text
from providers.utf16 import units

MAX_TITLE = 24
MAX_LABEL = 2_000
MAX_VALUE = 3_000
MAX_OPTIONS = 100
MAX_OPTION_TEXT = 75
MAX_OPTION = 150
MAX_SHOWN = 60_000
"""Of a form's text: a view holds 250 kB and 100 blocks."""

TOO_LONG = gettext_noop("This is too long to change here. Tell me in words what to change.")
CUT = gettext_noop("… (the rest does not fit in here)")

_UNSHOWN = re.compile(r"(?![\n\t])[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def form_view(form: Form) -> JsonObject:
    """Return the modal: its text literally, then its fields, each under its own name."""
    fields: list[Json] = [_field(field) for field in form.fields]
    view: JsonObject = {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": form.token,
        "title": _plain(form.title if form.title.strip() else gettext("Details"), MAX_TITLE),
        "close": _plain(gettext("Cancel") if form.fields else gettext("Close"), MAX_TITLE),
        "blocks": [*(_section(piece) for piece in _pieces(form.text)), *fields] or [_section("…")],
    }
    if any(isinstance(field, dict) and field.get("type") == "input" for field in fields):
        view["submit"] = _plain(gettext("Save"), MAX_TITLE)
    return view


def _plain(text: str, limit: int) -> JsonObject:
    return plain_text(escape(_UNSHOWN.sub("", text), limit))


def _section(text: str) -> JsonObject:
    return {"type": "section", "text": _plain(text, MAX_SECTION)}


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that fit a section once escaped, cut at line ends if there are any."""
    shown = _UNSHOWN.sub("", text)
    if len(shown) > MAX_SHOWN:
        shown = shown[:MAX_SHOWN] + gettext(CUT)
    piece, used = "", 0
    for line in shown.splitlines(keepends=True):
        size = units(escape(line))
        if piece and used + size > MAX_SECTION:
            yield from _shown(piece)
            piece, used = "", 0
        for letter in line:
            size = units(escape(letter))
            if used + size > MAX_SECTION:
                yield from _shown(piece)
                piece, used = "", 0
            piece, used = piece + letter, used + size
    yield from _shown(piece)


def _shown(piece: str) -> Iterator[str]:
    if piece.strip():
        yield piece.rstrip("\n")


def _field(field: FormField) -> JsonObject:
    """Return an input; a value that does not fit in Slack's inputs is not offered, so it stays unchanged."""
    label = field.label if field.label.strip() else field.name
    if units(field.value) > MAX_VALUE:
        return _section(f"{label}\n{gettext(TOO_LONG)}")
    block: JsonObject = {
        "type": "input",
        "block_id": field.name,
        "label": _plain(label, MAX_LABEL),
        "optional": not field.required,
    }
    if field.kind is FormFieldKind.CHOICE and _can_be_chosen(field.options):
        return {**block, "element": _menu(field)}
    if field.options:
        block["hint"] = _plain(gettext("One of: {choices}", choices=", ".join(field.options)), MAX_LABEL)
    element: JsonObject = {
        "type": "plain_text_input",
        "action_id": field.name,
        "multiline": field.kind is FormFieldKind.TEXT or "\n" in field.value,
    }
    if value := _UNSHOWN.sub("", field.value):
        element["initial_value"] = value
    return {**block, "element": element}


def _menu(field: FormField) -> JsonObject:
    options: dict[str, Json] = {
        option: {"text": _plain(option, MAX_OPTION_TEXT), "value": option} for option in field.options
    }
    menu: JsonObject = {"type": "static_select", "action_id": field.name, "options": [*options.values()]}
    if field.value in options:
        menu["initial_option"] = options[field.value]
    return menu


def _can_be_chosen(options: tuple[str, ...]) -> bool:
    return 0 < len(options) <= MAX_OPTIONS and all(option.strip() and units(option) <= MAX_OPTION for option in options)
