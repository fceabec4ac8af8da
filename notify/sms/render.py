"""From an outbound message to texts of at most 1,600 characters; pure.

Source of the limit: twilio.com/docs/api/errors/21617. Buttons have no place on SMS: the text carries the
codes that answer a card.
"""

import regex

from core.channel import Part
from core.json_types import Json
from core.messages import OutboundKind, OutboundMessage
from notify.cutting import next_cut
from notify.sms.gsm import count_segments, fold, units
from notify.sms.plain import to_plain

MAX_UNITS = 1600
MAX_MEDIA = 10

_LINE_ENDS = regex.compile(r"\r\n?|[\v\f\x85]")
_CONTROL = regex.compile(r"(?![\n\t])[\p{Cc}\p{Cs}]")
_EMPTY = "(no text)"


def render(message: OutboundMessage) -> tuple[Part, ...]:
    """Turn a message into texts, in order, each with its segments; never empty.

    A card is not folded, whatever it costs: what is shown of an action is what runs.
    """
    media: list[Json] = [item.url for item in message.media]
    # Half a surrogate pair can never be encoded, nor can a control character be shown.
    source = _CONTROL.sub("", _LINE_ENDS.sub("\n", message.text))
    text = to_plain(source) or source.strip() or ("" if media else _EMPTY)
    # Folding may leave nothing of a text that nobody sees (a lone soft hyphen).
    cut = split(text) if message.kind is OutboundKind.CARD else [_fold_within(piece) for piece in split(fold(text))]
    pieces = [piece for piece in cut if piece.strip()] or ["" if media else _EMPTY]
    parts = [_part(piece, media if not index else []) for index, piece in enumerate(pieces)]
    rest = [media[start : start + MAX_MEDIA] for start in range(MAX_MEDIA, len(media), MAX_MEDIA)]
    return (*parts, *(_part("", more) for more in rest))


def split(text: str, limit: int = MAX_UNITS) -> list[str]:
    """Cut a text into pieces of at most `limit` UTF-16 units at natural borders; always at least one.

    Only white space at a cut is left out, and no grapheme is cut unless it alone is over the limit.
    """
    pieces = []
    start = 0
    while units(text[start : start + limit + 1]) > limit:
        cut = next_cut(text, start, limit, units)
        pieces.append(text[start:cut].rstrip(" \n"))
        start = cut
        while start < len(text) and text[start] == "\n":
            start += 1
    if start < len(text) or not pieces:
        pieces.append(text[start:])
    return [piece for piece in pieces if piece] or [text]


def _fold_within(piece: str) -> str:
    """Fold a piece of a text that is not GSM as a whole; folding can make it longer."""
    folded = fold(piece)
    return folded if units(folded) <= MAX_UNITS else piece


def _part(text: str, media: list[Json]) -> Part:
    urls = media[:MAX_MEDIA]
    if urls:
        return Part(text=text, data={"media": urls}, segments=1)
    return Part(text=text, segments=count_segments(text))
