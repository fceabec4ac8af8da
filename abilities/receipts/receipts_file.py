"""A file of receipts, which anybody can check without this installation: JSON Lines, chained and signed. Pure.

The first line is the head, with the public key; then each receipt with its place and the SHA-256 of the line before it;
the last line has the number of receipts, the hash of the line before it, and the signature over both. Lines are
canonical JSON, so that each has a single form.
"""

import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

from abilities.receipts.keys import SigningKey, fingerprint, is_signed_by
from abilities.receipts.types import FORGOTTEN, Card, Days, Receipt, ReceiptOutcome, UsedConsent
from core.json_types import JsonObject, canonical_hash, canonical_json, read_json

FORMAT = 1
MAX_LINE = 8 * 1024 * 1024
_KIND = "onevalet receipts"


class FileRefused(Exception):
    """A file that is not a whole and unchanged file of receipts, with the reason in a sentence."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a file. `person`: the id of the person, without the name."""

    person: str
    days: Days
    made_at: datetime
    onevalet: str

    def to_json(self, public: bytes) -> JsonObject:
        """Return the head's line, with the key that signs the file."""
        return {
            "format": FORMAT,
            "kind": _KIND,
            "person": self.person,
            "first": self.days.first.isoformat(),
            "last": self.days.last.isoformat(),
            "made_at": self.made_at.isoformat(),
            "onevalet": self.onevalet,
            "key": public.hex(),
        }


@dataclass(slots=True)
class Verified:
    """A file that was checked: its head, its key, and the number of its receipts in all and by outcome.

    `forgotten`: receipts whose card was redacted since, so that it is not held against its hash.
    """

    person: str = ""
    first: str = ""
    last: str = ""
    made_at: str = ""
    key: str = ""
    receipts: int = 0
    without_card: int = 0
    forgotten: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(map(str, ReceiptOutcome), 0))

    def count(self, receipt: Receipt) -> None:
        """Count a receipt."""
        self.receipts += 1
        self.without_card += receipt.card is None
        self.forgotten += receipt.card is not None and receipt.card.sealed == FORGOTTEN
        self.outcomes[receipt.outcome] += 1


async def written(head: Head, receipts: AsyncIterator[Receipt], key: SigningKey) -> AsyncIterator[bytes]:
    """Yield a file line by line."""
    line = _line(head.to_json(key.public))
    yield line
    number = 0
    async for receipt in receipts:
        number += 1
        line = _line({"n": number, "previous": _hash(line), "receipt": receipt.told})
        yield line
    end: JsonObject = {"count": number, "previous": _hash(line)}
    yield _line(end | {"signature": key.sign(_signed(end)).hex()})


def verify(file: IO[bytes]) -> Verified:
    """Check a file from end to end; raise `FileRefused`. Memory holds a line at most.

    Who signed it is for the caller to compare.
    """
    lines = _lines(file)
    number, line, head = next(lines, (1, b"", {}))
    public, verified = _read_head(head)
    place = ("", "")
    for number, following, told in lines:
        if "signature" in told:
            _check_end(told, line, verified, public)
            if file.read(1):
                raise FileRefused(f"Line {number + 1} stands after the end of the file: it was added.")
            return verified
        if told.keys() != {"n", "previous", "receipt"} or told["n"] != number - 1 or told["previous"] != _hash(line):
            raise FileRefused(f"Line {number} does not follow the line before it: one was changed, removed or moved.")
        receipt = _read_receipt(told["receipt"], number)
        if (str(receipt.told["at"]), receipt.number) <= place:
            raise FileRefused(f"Line {number}: receipt {receipt.number} stands out of order, or twice.")
        place = (str(receipt.told["at"]), receipt.number)
        verified.count(receipt)
        line = following
    raise FileRefused("The file has no end: it was cut off.")


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes, JsonObject]]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        try:
            told = read_json(line) if len(line) <= MAX_LINE else None
        except ValueError:
            told = None
        if not isinstance(told, dict) or _line(told) != line:
            raise FileRefused(f"Line {number} is not as it was written: it was changed, or is no receipt.")
        yield number, line, told


def _read_head(head: JsonObject) -> tuple[bytes, Verified]:
    if head.get("kind") != _KIND:
        raise FileRefused("This is not a file of receipts.")
    if head.get("format") != FORMAT:
        raise FileRefused("A newer OneValet made the file: check it by that one.")
    try:
        public = bytes.fromhex(str(head["key"]))
        person, first, last, made_at = (str(head[name]) for name in ("person", "first", "last", "made_at"))
    except (KeyError, ValueError) as error:
        raise FileRefused("The head of the file cannot be read: it was changed.") from error
    return public, Verified(person, first, last, made_at, fingerprint(public))


def _read_receipt(told: Any, number: int) -> Receipt:
    try:
        receipt = Receipt.read(told)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileRefused(f"Line {number} is no receipt.") from error
    for kind, bound in (("card", receipt.card), ("consent", receipt.consent)):
        if bound is not None and not _fits(bound):
            raise FileRefused(f"Line {number}: the {kind} of receipt {receipt.number} does not fit its hash.")
    if not _ran_as_shown(receipt):
        raise FileRefused(f"Line {number}: receipt {receipt.number} ran with other arguments than its card showed.")
    return receipt


def _fits(bound: Card | UsedConsent) -> bool:
    return bound.sealed == FORGOTTEN or _hash(bound.sealed.encode("utf-8", "surrogatepass")) == bound.hash


def _ran_as_shown(receipt: Receipt) -> bool:
    """Return whether a tool ran by the name and with the arguments that were sealed with its card.

    An agent's run is bound by its fields, and its hash has the instruction too.
    """
    if receipt.card is None or receipt.card.sealed == FORGOTTEN:
        return True
    try:
        sealed = read_json(receipt.card.sealed)
    except ValueError:
        return False
    if not isinstance(sealed, dict) or sealed.get("tool") != receipt.tool:
        return False
    return receipt.told.get("kind") != "tool" or canonical_hash(sealed.get("arguments")) == receipt.told.get(
        "arguments_hash"
    )


def _check_end(told: JsonObject, line: bytes, verified: Verified, public: bytes) -> None:
    end: JsonObject = {"count": verified.receipts, "previous": _hash(line)}
    if told != end | {"signature": told["signature"]}:
        raise FileRefused("The end does not fit the receipts before it: one was changed or removed.")
    try:
        signature = bytes.fromhex(str(told["signature"]))
    except ValueError:
        signature = b""
    if signature.hex() != told["signature"] or not is_signed_by(public, _signed(end), signature):
        raise FileRefused("The signature is not by the key that the file names: the file was changed.")


def _line(told: JsonObject) -> bytes:
    return canonical_json(told).encode("utf-8", "surrogatepass") + b"\n"


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _signed(end: JsonObject) -> bytes:
    return f"{_KIND} {FORMAT}\n{canonical_json(end)}".encode()
