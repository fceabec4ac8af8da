"""From an outbound message to texts of at most 1,600 characters, and to MMS if it has files; pure.

Source of the limit: twilio.com/docs/api/errors/21617. Buttons have no place on SMS: the text carries the codes that
answer a card.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from core.json_types import Json
from core.messaging.channels import Part
from core.messaging.messages import OutboundKind, OutboundMessage
from notify.no_text import no_text
from notify.plain_markdown import to_plain, without_controls
from notify.sms.gsm import count_segments, fold, is_gsm, septets
from notify.sms.mms import mms_parts
from notify.text_split import Weigh, pieces_of
from providers.sms.wire import MAX_MEDIA
from providers.utf16 import units

MAX_UNITS = 1600


def split(text: str, limit: int = MAX_UNITS, weigh: Weigh = units) -> list[str]:
    """Return a text in pieces of at most `limit`, UTF-16 units by default, cut at natural borders; at least one piece.

    Only white space at a cut is left out, and no grapheme is cut unless it alone is over the limit.
    """
    return [text[start:end] for start, end in pieces_of(text, limit, weigh) if start < end] or [text]


type Folding = Callable[[str], str]
_MORE = "\n\n(... more: reply MORE)"


def render(
    message: OutboundMessage, max_segments: int | None = None, first: int | None = None, *, plain_letters: bool = False
) -> tuple[Part, ...]:
    """Turn a message into texts, in order, each with its segments; never empty.

    With `max_segments` to a message, a longer message comes in portions, each ending with the word that requests the
    next; `first`: the segments of the first portion, if it is smaller. `plain_letters`: see `fold`. A card is neither
    folded, at any cost, nor divided: the action that is shown is the action that runs. Files follow the text, in
    messages of their own, so that an unsendable file costs no words.
    """
    media: list[Json] = [item.url for item in message.media]
    source = without_controls(message.text)
    text = to_plain(source) or source.strip() or ("" if media or message.files else no_text())
    folding = partial(fold, plain_letters=plain_letters)
    # Folding may leave nothing of an invisible text (a lone soft hyphen).
    cut = (
        split(text)
        if message.kind is OutboundKind.CARD
        else [_fold_within(piece, folding) for piece in split(folding(text))]
    )
    pieces = [piece for piece in cut if piece.strip()] or ["" if media or message.files else no_text()]
    parts = [_part(piece, media if not index else []) for index, piece in enumerate(pieces) if piece or media]
    most = first or max_segments
    if max_segments and most and sum(part.segments for part in parts) > most and message.kind is not OutboundKind.CARD:
        parts = _portions(folding(text), media, max_segments, most, folding)
    rest = [media[start : start + MAX_MEDIA] for start in range(MAX_MEDIA, len(media), MAX_MEDIA)]
    files = mms_parts(message.files) if message.files else ()
    return (*parts, *(_part("", more) for more in rest), *files)


def _portions(text: str, media: list[Json], max_segments: int, first: int, folding: Folding) -> list[Part]:
    """Return a text as parts, in portions of at most `max_segments`, the first of at most `first`."""
    weigh, joined = (septets, 153) if is_gsm(text) else (units, 67)
    # A character of two units is never divided between segments, which may leave a unit of each empty.
    less, room = (max(min(MAX_UNITS, most * (joined - 1)) - len(_MORE), 1) for most in (first, max_segments))
    begins = split(text, less, weigh)[0]
    cut = [begins, *split(text.partition(begins)[2].lstrip(), room, weigh)]
    pieces = [_fold_within(piece, folding, room) for piece in cut if piece.strip()]
    numbers, used = list[int](), 0
    for piece in pieces:
        cost = count_segments(piece + _MORE)
        fits = bool(numbers) and used + cost <= (max_segments if numbers[-1] else first)
        used = used + cost if fits else cost
        numbers.append(numbers[-1] + (not fits) if numbers else 0)
    ends = [number < later for number, later in zip(numbers, [*numbers[1:], 0], strict=False)]
    texts = [piece + _MORE if end else piece for piece, end in zip(pieces, ends, strict=True)]
    parts = [_part(piece, media if not index else []) for index, piece in enumerate(texts)]
    return [replace(part, portion=number) for part, number in zip(parts, numbers, strict=True)]


def _fold_within(piece: str, folding: Folding, limit: int = MAX_UNITS) -> str:
    """Fold a piece of a text that is not GSM as a whole; folding can make it longer."""
    folded = folding(piece)
    return folded if units(folded) <= limit else piece


def _part(text: str, media: list[Json]) -> Part:
    urls = media[:MAX_MEDIA]
    return Part(text, {"media": urls}) if urls else Part(text, segments=count_segments(text))
