"""Count segments and price as the carrier does: GSM 03.38 septets, or UCS-2 for everything else."""

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

# 3GPP TS 23.038, default alphabet and its extension table.
_BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED = frozenset("\f^{}\\[~]|€")

# The list price of a US long code, without carrier fees (twilio.com/en-us/sms/pricing/us).
_SMS = Decimal("0.0083")
_MMS_OUT, _MMS_IN = Decimal("0.0220"), Decimal("0.0165")


@dataclass(frozen=True, slots=True)
class Segments:
    """The encoding of a text: `encoding` is GSM-7 or UCS-2, `units` its septets or UTF-16 units."""

    encoding: str
    units: int
    count: int


@lru_cache(1000)
def count_segments(text: str) -> Segments:
    """Count the segments; a pair of units (an escape, a surrogate) is never split over two of them."""
    if all(letter in _BASIC or letter in _EXTENDED for letter in text):
        return _count("GSM-7", [2 if letter in _EXTENDED else 1 for letter in text], 160, 153)
    return _count("UCS-2", [2 if ord(letter) > 0xFFFF else 1 for letter in text], 70, 67)


def price_of(segments: int, *, inbound: bool, media: int) -> Decimal:
    """Return the price in dollars: per segment, or a single price for an MMS."""
    if media:
        return _MMS_IN if inbound else _MMS_OUT
    return _SMS * segments


def _count(encoding: str, widths: list[int], single: int, joined: int) -> Segments:
    total = sum(widths)
    if total <= single:
        return Segments(encoding, total, 1)
    count, used = 1, 0
    for width in widths:
        if used + width > joined:
            count, used = count + 1, 0
        used += width
    return Segments(encoding, total, count)
