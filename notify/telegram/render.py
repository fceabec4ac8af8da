"""From an outbound message to Telegram's messages: at most 4,096 UTF-16 units, entities, an inline keyboard; pure.

Source of the limits: core.telegram.org/bots/api#sendmessage and #inlinekeyboardbutton. Telegram counts
characters; UTF-16 units are never fewer.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from core.json_types import Json, JsonObject
from core.language.catalogue import gettext
from core.messaging.channels import Part, file_part
from core.messaging.messages import Action, ActionStyle, Media, OutboundKind, OutboundMessage
from notify.no_text import no_text
from notify.telegram.entities import Mark, Rich, cut
from notify.telegram.markdown import to_rich
from notify.telegram.text import clean, is_visible
from notify.text_split import pieces_of
from providers.telegram.wire import FILE_SCHEME, MAX_TOKEN, MAX_UNITS
from providers.utf16 import units

MAX_CHOICE = 40
"""Letters of a button that a phone shows in a line, as far as is known: Telegram states no limit."""

_ROW_LETTERS = 36
_ROW_BUTTONS = 3
_STYLES = {ActionStyle.PRIMARY: "primary", ActionStyle.DANGER: "danger"}
# Content types that Telegram shows as a picture if given by address.
_PICTURES = ("image/jpeg", "image/png", "image/webp")


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Turn a message into parts, in order; never empty. The last has the buttons, or asks for a reply.

    Files follow the text, but precede a text with buttons. Raises `ValueError` for a button whose token is not 1 to 64
    bytes.
    """
    message = _with_its_choices(message)
    pieces, closing = _pieces(message)
    below = _below(message)
    if not pieces and (below or not (message.media or message.files)):
        pieces = [Rich(no_text())]
    last = len(pieces) - 1
    end = {**below, **closing}
    texts = [_text_part(piece, end if index == last else {}) for index, piece in enumerate(pieces)]
    files = [*map(_media_part, message.media), *map(file_part, message.files)]
    return (*files, *texts) if below else (*texts, *files)


def split(text: str, limit: int) -> list[tuple[int, int]]:
    """Return the start and end of each piece of at most `limit` UTF-16 units, in code points.

    Only white space and invisible characters are left out, and no grapheme is cut unless it alone is over the limit.
    """
    stretches = [(start, start + len(text[start:end].rstrip(" \n"))) for start, end in pieces_of(text, limit, units)]
    return [(start, end) for start, end in stretches if is_visible(text[start:end])]


def render_end(text: str) -> Part:
    """Render the end of a text that is still being written, as much as fits in a message.

    The cost does not grow with the text. The end begins at the same place for a while, so that words do not move with
    every draft.
    """
    text = text.rstrip()
    start = max((len(text) - 1) // MAX_UNITS - 1, 0) * MAX_UNITS
    return render(OutboundMessage("", OutboundKind.REPLY, text[start:]))[-1]


def _pieces(message: OutboundMessage) -> tuple[list[Rich], JsonObject]:
    """Return the text in pieces that fit, and the closing that is the end of the last, whole."""
    rich = _read(message.text)
    pieces = cut(rich, split(rich.text, MAX_UNITS))
    if not message.closing:
        return pieces, {}
    closing = _read(message.closing)
    if not pieces[-1].text.endswith(closing.text):  # it would be cut in two: it stands alone then
        lasting = _read(message.lasting)
        pieces = [*cut(lasting, split(lasting.text, MAX_UNITS)), closing]
    return pieces, {"closing": closing.text}


def _with_its_choices(message: OutboundMessage) -> OutboundMessage:
    """Return a question without the words for its choices, unless a phone would show less on a button."""
    if not message.chooses or any(units(action.label) > MAX_CHOICE for action in message.actions):
        return message
    return replace(message, text=message.lasting, closing="")


def _below(message: OutboundMessage) -> JsonObject:
    """Return the controls below the last text: a message has either buttons or the request for a reply."""
    if actions := tuple(action for action in message.actions if not action.needs_forms):
        return {"keyboard": _keyboard(actions)}
    # It stands in the field in which a person answers: 1 to 64 characters (core.telegram.org/bots/api#forcereply).
    return {"force_reply": gettext("Your answer")} if message.wants_reply else {}


def _read(markdown: str) -> Rich:
    source = clean(markdown)
    rich = to_rich(source)
    return rich if is_visible(rich.text) else Rich(source.strip() if is_visible(source) else "")


def _text_part(rich: Rich, below: JsonObject) -> Part:
    before = [0, *accumulate(map(units, rich.text))] if rich.marks else []
    entities: list[Json] = [_entity(mark, before) for mark in rich.marks]
    marks: JsonObject = {"entities": entities} if entities else {}
    return Part(text=rich.text, data={**marks, **below})


def _entity(mark: Mark, before: Sequence[int]) -> JsonObject:
    """Return a mark with its place in UTF-16 units; `before` counts those before each character."""
    entity: JsonObject = {
        "type": mark.kind,
        "offset": before[mark.start],
        "length": before[mark.end] - before[mark.start],
    }
    if mark.url:
        entity["url"] = mark.url
    if mark.language:
        entity["language"] = mark.language
    return entity


def _keyboard(actions: tuple[Action, ...]) -> list[Json]:
    """Return rows of buttons: short buttons next to each other, long buttons below each other."""
    rows: list[list[Json]] = []
    letters = 0
    for action in actions:
        button = _button(action)
        letters += len(action.label)
        if not rows or len(rows[-1]) == _ROW_BUTTONS or letters > _ROW_LETTERS:
            rows.append([])
            letters = len(action.label)
        rows[-1].append(button)
    return [[*row] for row in rows]


def _button(action: Action) -> JsonObject:
    if not 1 <= len(action.token.encode()) <= MAX_TOKEN:
        raise ValueError("a button's token must be 1 to 64 bytes")
    label = clean(action.label).strip()
    button: JsonObject = {"text": label if is_visible(label) else "…", "callback_data": action.token}
    if action.style in _STYLES:
        button["style"] = _STYLES[action.style]
    return button


def _media_part(media: Media) -> Part:
    """Return a file by its address, or by the reference it came with; the text replaces it if that fails."""
    kind = "photo" if media.content_type.lower() in _PICTURES else "document"
    name = clean(media.name).strip()
    text = f"{name}\n{media.url}" if is_visible(name) else media.url
    return Part(text=text[:MAX_UNITS], data={"media": {"kind": kind, "source": media.url.removeprefix(FILE_SCHEME)}})
