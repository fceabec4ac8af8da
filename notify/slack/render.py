"""From an outbound message to Slack's blocks: Markdown, buttons beneath the last part; pure.

Source of the limits: docs.slack.dev, reference/block-kit; github.com/slackapi/bolt-js/issues/2509 for the
13,200 characters over all blocks of a message, which no document states.
"""

from collections.abc import Sequence
from dataclasses import replace

import regex

from core.json_types import Json, JsonObject
from core.language.catalogue import gettext
from core.messaging.channels import Part, file_part
from core.messaging.messages import Action, ActionStyle, OutboundMessage
from notify.no_text import no_text
from notify.numbered_lists import keep_numbers
from notify.slack.markdown import defuse
from notify.slack.split import MAX_TEXT, split
from notify.text_split import shorten
from providers.slack.wire import choice_id
from providers.utf16 import units

MAX_LABEL = 75
MAX_ACTIONS_A_BLOCK = 25
MAX_ACTIONS = 100
"""In a part; further actions follow in parts of their own."""
MAX_ALL_BLOCKS = 13_000

_LINE_ENDS = regex.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
# Besides characters without a glyph: marks that reverse the order of letters, which disguise a text.
_CONTROL = regex.compile(r"(?![\n\t])[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]")


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Turn a message into parts, in order, the buttons in the last; never empty. Files follow a text without buttons.

    `Part.text` is the part's whole Markdown: sent as plain text if Slack refuses the blocks.
    """
    message = _with_its_choices(message)
    groups = [message.actions[start : start + MAX_ACTIONS] for start in range(0, len(message.actions), MAX_ACTIONS)]
    first = groups[0] if groups else ()
    room = min(MAX_TEXT, MAX_ALL_BLOCKS - sum(units(_label(action)) for action in first))
    pieces = [piece.text for piece in split(_source(message), room)]
    if not pieces[-1].endswith(message.closing):  # it would be cut in two: it stands alone then
        pieces = [
            *(piece.text for piece in split(_source(replace(message, text=message.lasting)), room)),
            message.closing,
        ]
    closing: JsonObject = {"closing": message.closing} if message.closing else {}
    *before, last = pieces
    parts = [*(_part(piece, ()) for piece in before), _part(last, first, closing)]
    more = [_part(gettext("More choices:"), group) for group in groups[1:]]
    files = [*map(file_part, message.files)]
    if files and not message.actions:
        return (*parts, *files) if message.text.strip() else tuple(files)
    return (*files, *parts, *more)


def _with_its_choices(message: OutboundMessage) -> OutboundMessage:
    """Return a question without the words for its choices, unless a button says less than they do."""
    if not message.chooses or any(units(action.label) > MAX_LABEL for action in message.actions):
        return message
    return replace(message, text=message.lasting, closing="")


def _source(message: OutboundMessage) -> str:
    """Return the text without characters that cannot be shown: half a surrogate pair cannot be encoded."""
    text = _CONTROL.sub("", _LINE_ENDS.sub("\n", message.text))
    # Blanks at the beginning may be the mark of code: only empty lines go.
    markdown = "\n".join([keep_numbers(text.strip("\n").rstrip()), *(item.url for item in message.media)])
    return markdown if markdown.strip() else no_text()


def _part(text: str, actions: Sequence[Action], closing: JsonObject | None = None) -> Part:
    blocks: list[Json] = [{"type": "markdown", "text": defuse(text)}]
    for start in range(0, len(actions), MAX_ACTIONS_A_BLOCK):
        row = actions[start : start + MAX_ACTIONS_A_BLOCK]
        elements: list[Json] = [_button(action, start + index) for index, action in enumerate(row)]
        blocks.append({"type": "actions", "elements": elements})
    return Part(text=text, data={"blocks": blocks, **(closing or {})})


def _button(action: Action, index: int) -> JsonObject:
    button: JsonObject = {
        "type": "button",
        "action_id": choice_id(index),
        "text": {"type": "plain_text", "text": _label(action)},
        "value": action.token,
    }
    match action.style:
        case ActionStyle.PRIMARY | ActionStyle.DANGER:
            button["style"] = action.style.value
        case ActionStyle.PLAIN:
            pass
    return button


def _label(action: Action) -> str:
    """Return a button's caption, cut between graphemes; units are counted, the larger number."""
    return shorten(_CONTROL.sub("", action.label.replace("\n", " ")).strip() or "…", MAX_LABEL, units)
