"""Split a text into SMS of at most 1,600 characters; pure. Source: twilio.com/docs/api/errors/21617."""

from notify.text_split import Weigh, pieces_of
from providers.utf16 import units

MAX_UNITS = 1600


def split(text: str, limit: int = MAX_UNITS, weigh: Weigh = units) -> list[str]:
    """Return a text in pieces of at most `limit`, UTF-16 units by default, cut at natural borders; at least one.

    Only white space at a cut is left out, and no grapheme is cut unless it alone is over the limit.
    """
    return [text[start:end] for start, end in pieces_of(text, limit, weigh) if start < end] or [text]
