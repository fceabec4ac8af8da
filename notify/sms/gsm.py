"""The cost of a text: the GSM 03.38 alphabet, look-alikes folded into it, septets and segments.

A single character outside the alphabet turns the whole text into UCS-2, 70 characters a segment instead of 160.
Source: 3GPP TS 23.038; twilio.com/docs/glossary/what-is-gsm-7-character-encoding.
"""

import re
import unicodedata

BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
EXTENDED = frozenset("\f^{}\\[~]|€")
"""These take two septets: an escape and the character."""

_LOOK_ALIKES = {
    "'": "‘’‚‛′‵`´ʼʹ＇",
    '"': "“”„‟″‶«»＂",
    "-": "‐‑‒–—―−⁃•‣◦∙·",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "\n": "\u2028\u2029\u0085\v",
    "": "\u00ad\u200b\u2060\ufeff",
    "    ": "\t",
    "...": "…",
    "->": "→⇒➔",
    "<-": "←⇐",
    "<=": "≤",
    ">=": "≥",
    "!=": "≠",
    "x": "×✕",
    "/": "÷⁄∕",
    "<": "‹",
    ">": "›",
    "1/2": "½",
    "1/4": "¼",
    "3/4": "¾",
    "(c)": "©",
    "(R)": "®",
    "(tm)": "™",
    "[x]": "☑✓✔✅",
    "[ ]": "☐",
}
_FOLDS = str.maketrans({odd: plain for plain, odds in _LOOK_ALIKES.items() for odd in odds})
_PLAIN = str.maketrans(
    {"œ": "oe", "Œ": "OE", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i"}
    | {"ª": "a", "º": "o"}
)
"""Letters that Unicode takes apart no further."""
_LINK = re.compile(r"\S*(?:://|@|www\.)\S*")
"""A link or an address, which must stay unchanged, letter for letter."""


def is_gsm(text: str) -> bool:
    return all(char in BASIC or char in EXTENDED for char in text)


def fold(text: str, *, plain_letters: bool = False) -> str:
    """Replace look-alikes if that brings the whole text into the alphabet; else return the text unchanged.

    Letters are changed into others only with `plain_letters`: an accent can be the meaning.
    """
    if is_gsm(text):
        return text
    folded = unicodedata.normalize("NFC", text).translate(_FOLDS)
    if plain_letters and not is_gsm(folded):
        folded = _without_accents(folded)
    return folded if is_gsm(folded) else text


def _without_accents(text: str) -> str:
    """Return a text whose letters outside the alphabet have their plain forms, if they have any; é and ñ are within."""
    done, end = "", 0
    for link in _LINK.finditer(text):
        done += "".join(map(_plain_letter, text[end : link.start()])) + link.group()
        end = link.end()
    return done + "".join(map(_plain_letter, text[end:]))


def _plain_letter(char: str) -> str:
    if char in BASIC or char in EXTENDED:
        return char
    plain = unicodedata.normalize("NFD", char)[0].translate(_PLAIN)
    return plain if all(letter in BASIC for letter in plain) else char


def septets(text: str) -> int:
    return len(text) + sum(char in EXTENDED for char in text)


def count_segments(text: str) -> int:
    """Return the number of billed segments: 160 septets alone or 153 each, 70 UTF-16 units or 67 each; at least 1.

    A two-septet character and a surrogate pair are never split between segments.
    """
    if is_gsm(text):
        sizes, alone, joined = [2 if char in EXTENDED else 1 for char in text], 160, 153
    else:
        sizes, alone, joined = [2 if char > "\uffff" else 1 for char in text], 70, 67
    if sum(sizes) <= alone:
        return 1
    segments, filled = 1, 0
    for size in sizes:
        if filled + size > joined:
            segments, filled = segments + 1, 0
        filled += size
    return segments
