"""vCards written: new cards, and single lines of existing cards, whose other lines stay as they are. Pure.

A change is two lists of lines: removed lines and new lines. Its inverse swaps the two.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from abilities.contacts.addresses import number_of
from abilities.contacts.book import Contact
from abilities.contacts.matching import folded
from abilities.contacts.vcards import card_lines, plain

_NAME = re.compile(r"(?:[\w-]+\.)?([\w-]+)[;:]")
_VALUE = re.compile(r'(?:[^":]|"[^"]*")*:(.*)', re.DOTALL)
_OCTETS = 75
"""Of a line, without its end (RFC 6350 3.2)."""


@dataclass(frozen=True, slots=True)
class CardChange:
    """Lines of a card that go, and lines that come."""

    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def then(self, other: "CardChange") -> "CardChange":
        """Return both changes as a single change; a line that is added and then removed is in neither list."""
        passing = set(self.new) & set(other.gone)
        gone = (*self.gone, *(line for line in other.gone if line not in passing))
        return CardChange(gone, (*(line for line in self.new if line not in passing), *other.new))

    @property
    def inverse(self) -> "CardChange":
        return CardChange(self.new, self.gone)

    def to_json(self) -> dict[str, Any]:
        return {"gone": [*self.gone], "new": [*self.new]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "CardChange":
        return cls(tuple(map(str, data["gone"])), tuple(map(str, data["new"])))

    def is_made(self, text: str) -> bool:
        """Return whether a card is as this change leaves it."""
        there = [_known_by(line) for line in card_lines(text)]
        return all(_known_by(line) in there for line in self.new) and not any(
            _known_by(line) in there for line in self.gone
        )

    def applied(self, text: str) -> str | None:
        """Return a card with this change; None if a line to remove is missing."""
        lines = card_lines(text)
        for gone in self.gone:
            at = next((at for at, line in enumerate(lines) if _known_by(line) == _known_by(gone)), None)
            if at is None:
                return None
            del lines[at]
        end = next((at for at, line in enumerate(lines) if line.upper().startswith("END:")), len(lines))
        return _text([*lines[:end], *self.new, *lines[end:]])


def new_card(contact: Contact, uid: str) -> str:
    """Return a card of version 3.0, which every server takes."""
    lines = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{uid}", *_named(contact.name), *_addressed(contact)]
    lines += _nicknamed(contact.nicknames)
    lines += [f"ORG:{_escaped(contact.organization)}"] if contact.organization else []
    lines += [f"BDAY:{contact.birthday}"] if contact.birthday else []
    return _text([*lines, "END:VCARD"])


def changed_name(text: str, name: str) -> CardChange:
    """Return the change to another name."""
    return CardChange(_of(text, "FN", "N"), _named(name))


def changed_line(text: str, name: str, value: str) -> CardChange:
    """Return the change of a property that a card has once; an empty value removes it."""
    return CardChange(_of(text, name), (f"{name}:{_escaped(value)}",) if value else ())


def added(text: str, contact: Contact) -> CardChange:
    """Return the change that adds a contact's addresses and nicknames, without those that the card has."""
    there = {_known_by(line) for line in card_lines(text)}
    called = {folded(part) for line in _of(text, "NICKNAME") for part in _parts(line)}
    names = [name for name in contact.nicknames if folded(name) not in called]
    return CardChange((), (*(line for line in _addressed(contact) if _known_by(line) not in there), *_nicknamed(names)))


def removed(text: str, words: str, region: str | None) -> CardChange:
    """Return the change that removes an address or a nickname; an empty change if the card lacks it."""
    words = re.sub(r"^(?:slack|telegram):? ", "", words.strip(), flags=re.IGNORECASE)
    number, gone = number_of(words, region), list[str]()
    for line in _of(text, "TEL", "EMAIL", "IMPP"):
        value = re.sub(r"^(?:tel|mailto|slack|telegram):", "", plain(_value(line)).strip(), flags=re.IGNORECASE)
        same = number is not None and number_of(value, region) == number
        if same or value.casefold() == words.casefold():
            gone.append(line)
    for line in () if gone else _of(text, "NICKNAME"):
        names = _parts(line)
        left = [name for name in names if folded(name) != folded(words)]
        if len(left) < len(names):
            return CardChange((line,), tuple(_nicknamed(left)))
    return CardChange(tuple(gone))


def _of(text: str, *names: str) -> tuple[str, ...]:
    return tuple(line for line in card_lines(text) if (match := _NAME.match(line)) and match[1].upper() in names)


def _value(line: str) -> str:
    match = _VALUE.match(line)
    return match[1] if match else ""


def _parts(line: str) -> list[str]:
    return [plain(part).strip() for part in re.split(r"(?<!\\),", _value(line)) if part.strip()]


def _known_by(line: str) -> tuple[str, str]:
    """Return a line's identity: servers write its parameters, and the spaces in a number, in their own way."""
    match = _NAME.match(line)
    name, value = match[1].upper() if match else "", plain(_value(line)).strip()
    return name, re.sub(r"[^\d+]", "", value.casefold().removeprefix("tel:")) if name == "TEL" else value.casefold()


def _named(name: str) -> tuple[str, ...]:
    given, _, family = name.rpartition(" ")
    parts = (family, given) if given else ("", family)
    return (f"FN:{_escaped(name)}", f"N:{';'.join(map(_escaped, parts))};;;")


def _addressed(contact: Contact) -> list[str]:
    return [
        *(f"TEL;TYPE=CELL:{phone}" for phone in contact.phones),
        *(f"EMAIL;TYPE=INTERNET:{_escaped(mail)}" for mail in contact.mails),
        *(f"IMPP;X-SERVICE-TYPE=Slack:slack:{member}" for member in contact.slack),
        *(f"IMPP;X-SERVICE-TYPE=Telegram:telegram:{user}" for user in contact.telegram),
    ]


def _nicknamed(names: Sequence[str]) -> list[str]:
    # A line each: some servers keep only the first of several on a line.
    return [f"NICKNAME:{_escaped(name)}" for name in names]


def _escaped(text: str) -> str:
    words = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return re.sub(r"([\\,;])", r"\\\1", words)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{part}\r\n" for line in lines for part in _folded(line))


def _folded(line: str) -> list[str]:
    if line.isascii():  # a picture among them
        rest = range(_OCTETS, len(line), _OCTETS - 1)
        return [line[:_OCTETS], *(f" {line[at : at + _OCTETS - 1]}" for at in rest)]
    parts, part = list[str](), ""
    for char in line:
        if len((part + char).encode()) > _OCTETS:
            parts.append(part)
            part = " "
        part += char
    return [*parts, part]
