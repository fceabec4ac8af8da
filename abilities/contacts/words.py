"""A person's words about a contact, parsed: numbers and addresses, a birthday, words."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from abilities.contacts.addresses import Written
from abilities.contacts.book import Contact, merged
from onevalet import ToolRetry, gettext

_YEARLESS = re.compile(r"--(0[1-9]|1[0-2])-?(0[1-9]|[12][0-9]|3[01])")
_MAX_WORDS = 500
_MAX_NAME = 60
"""Characters of a name that is read among other words."""


def read_addresses(given: Sequence[str], written: Written) -> Contact:
    """Return a contact with the numbers, addresses and nicknames in some words. Raises `ToolRetry`."""
    phones, mails, nicknames, ids = list[str](), list[str](), list[str](), Contact("")
    for item in given:
        slack, telegram, rest = _handles(item, written)
        if slack or telegram:
            ids = merged(ids, Contact("", slack=slack, telegram=telegram))
        elif "@" in rest:
            mails.append(written.mail(rest))
        elif re.search(r"\d{3}", rest):
            phones.append(written.number(rest))
        else:
            nicknames.append(rest)
    return replace(ids, phones=tuple(phones), mails=tuple(mails), nicknames=tuple(nicknames))


def worded(text: str) -> str:
    """Return words on a single line. Raises `ToolRetry` if they are too long."""
    words = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if len(words) > _MAX_WORDS:
        raise ToolRetry(gettext("That is too long: at most {number} characters.", number=_MAX_WORDS))
    return words


def read_birthday(text: str) -> str:
    """Return the stored form of a birthday. Raises `ToolRetry`."""
    if not text or (yearless := _YEARLESS.fullmatch(text)):
        return f"--{yearless[1]}-{yearless[2]}" if text and yearless else ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise ToolRetry("A birthday is given as 1990-05-31, or as --05-31 without a year.") from error


def quoted(words: str) -> str:
    """Return words of a card, which others may have written, reduced to the characters of a name or an address."""
    kept = "".join(char for char in words if char.isalnum() or unicodedata.combining(char) or char in " .,'’&()+@_-")
    return kept[:_MAX_NAME].strip()


def _handles(details: str, written: Written) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the Slack and Telegram ids in some details, and the rest as notes."""
    slack = tuple(written.member(member) for member in re.findall(r"\b[Ss]lack:? ([UW][0-9A-Z]{6,20})\b", details))
    telegram = tuple(written.user(user) for user in re.findall(r"\b[Tt]elegram:? ([0-9]{5,15})\b", details))
    rest = re.sub(r"\b(?:[Ss]lack:? [UW][0-9A-Z]{6,20}|[Tt]elegram:? [0-9]{5,15})\b[;,. ]*", "", details)
    return slack, telegram, worded(rest)
