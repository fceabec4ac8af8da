"""Reply markup: https://core.telegram.org/bots/api#inlinekeyboardmarkup and its siblings."""

from workbench.simulator.journal import Json
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.errors import bad_request
from workbench.simulator.telegram.fields import string_field
from workbench.simulator.telegram.links import valid_link

MAX_CALLBACK_DATA = 64
_MAX_BUTTONS = 100
_MAX_PLACEHOLDER = 64
_OTHER_TYPES = (
    "callback_game",
    "pay",
    "switch_inline_query",
    "switch_inline_query_chosen_chat",
    "switch_inline_query_current_chat",
    "login_url",
    "web_app",
    "copy_text",
)
_STYLES = ("", "default", "primary", "danger", "success")


def read_markup(given: Arguments) -> dict[str, Json] | None:
    """Return the reply markup of a call, or None; an empty inline keyboard counts as none. Raises `Refusal`.

    The words follow the server source, `get_reply_markup`.
    """
    value = given.json("reply_markup", "Can't parse reply keyboard markup JSON object")
    if value is None and not given.text("reply_markup"):
        return None
    if not isinstance(value, dict):
        raise bad_request("Object expected as reply markup")
    for name in ("keyboard", "inline_keyboard"):
        if name in value and not isinstance(value[name], list):
            raise bad_request(f'Field "{name}" must be of type Array')
    if rows := value.get("keyboard"):
        _check_keyboard(rows)
        return value
    rows = value.get("inline_keyboard")
    if isinstance(rows, list) and any(rows):
        return {"inline_keyboard": [row for row in _inline_rows(rows) if row]}
    if value.get("force_reply"):
        return _force_reply(value)
    return value if value.get("remove_keyboard") else None


def _force_reply(value: dict[str, Json]) -> dict[str, Json]:
    """Read https://core.telegram.org/bots/api#forcereply: a placeholder has 1 to 64 characters."""
    if not all(isinstance(value.get(name, False), bool) for name in ("force_reply", "selective")):
        raise bad_request('Field "force_reply" must be of type Boolean')
    placeholder = string_field(value, "input_field_placeholder", "Can't parse reply markup: ")
    if len(placeholder) > _MAX_PLACEHOLDER:
        raise bad_request("reply keyboard placeholder is too long")
    return value


def inline_buttons(markup: Json) -> list[dict[str, Json]]:
    """List the buttons under a message, row by row."""
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    if not isinstance(rows, list):
        return []
    return [button for row in rows if isinstance(row, list) for button in row if isinstance(button, dict)]


def _check_keyboard(rows: Json) -> None:
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, list):
            raise bad_request('Field "keyboard" must be an Array of Arrays')
        for button in row:
            text = button if isinstance(button, str) else ""
            if isinstance(button, dict):
                text = string_field(button, "text", "Can't parse keyboard button: ", required=True)
            elif not isinstance(button, str):
                raise bad_request("Can't parse keyboard button: KeyboardButton must be a String or an Object")
            if not text:
                raise bad_request("Keyboard button text must be non-empty")


def _inline_rows(rows: list[Json]) -> list[Json]:
    read: list[Json] = []
    for row in rows:
        if not isinstance(row, list):
            raise bad_request('Field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays')
        read.append([_inline_button(button) for button in row])
    if sum(len(row) for row in read if isinstance(row, list)) > _MAX_BUTTONS:
        # 100 is the server's limit as clients report it; the documentation names no number.
        raise bad_request("reply markup is too long")
    return read


def _inline_button(button: Json) -> dict[str, Json]:
    context = "Can't parse inline keyboard button: "
    if not isinstance(button, dict):
        raise bad_request(f"{context}InlineKeyboardButton must be an Object")
    text = string_field(button, "text", context, required=True)
    if string_field(button, "style", context).lower() not in _STYLES:
        raise bad_request(f"{context}invalid button style specified")
    url, data = string_field(button, "url", context), string_field(button, "callback_data", context)
    if not url and not data and not any(name in button for name in _OTHER_TYPES):
        raise bad_request(f"{context}Text buttons are unallowed in the inline keyboard")
    if not text:
        raise bad_request("Inline keyboard button text must be non-empty")
    if url and not valid_link(url):
        raise bad_request(f"Inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")
    if not url and len(data.encode()) > MAX_CALLBACK_DATA:
        # https://core.telegram.org/bots/api#inlinekeyboardbutton: "callback_data 1-64 bytes".
        raise bad_request("BUTTON_DATA_INVALID")
    return button
