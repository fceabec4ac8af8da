"""Copies of an account's address books from their last reading, so that only changes are read again.

A copy is stored under the account itself, in a few long values, and goes when the account is disconnected. The first of
them, the head, names the others: it is written after them, so that a reader finds a complete copy or none.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from abilities.contacts.book import CardPlace, Contact, read_contact
from onevalet import Account, ToolExecutionContext, stored_with

_HEAD = "address books"
_PART = 60_000
"""Characters of a part; a stored value may have more."""
MAX_PARTS = 40


@dataclass(slots=True)
class BookCopy:
    """An address book. `cards` has each card's etag and contact, by its address; None: the card has no contact.

    `ctag` is the server's tag for its whole content.
    """

    ctag: str = ""
    cards: dict[str, tuple[str, Contact | None]] = field(default_factory=dict)


@dataclass(slots=True)
class Copy:
    """The address books of an account, by address. `read_at`: when all of them were last known; None for never."""

    home: str = ""
    read_at: datetime | None = None
    books: dict[str, BookCopy] = field(default_factory=dict)
    changed: bool = False

    @property
    def count(self) -> int:
        return sum(len(book.cards) for book in self.books.values())

    def contacts(self, account: Account) -> Iterator[Contact]:
        """Yield the contacts of the books, each with the place of its card."""
        for book in self.books.values():
            for url, (_, contact) in book.cards.items():
                if contact is not None:
                    yield replace(contact, card=CardPlace(account.service, account.name, url))


async def load_copy(account: Account, owner: str, context: ToolExecutionContext) -> Copy:
    """Return the copy of an account's address books; an empty copy if it is incomplete, or of another `owner`."""
    kept = {stored.key: stored.value for stored in await context.storage.list(_collection(account))}
    head = kept.get(_HEAD)
    if not isinstance(head, dict) or head.get("owner") != owner or not {*_texts(head, "parts")} <= kept.keys():
        return Copy()
    copy = Copy(str(head["home"]), datetime.fromisoformat(at) if (at := str(head["read_at"])) else None)
    urls = _texts(head, "books")
    for url, ctag in zip(urls, _texts(head, "ctags"), strict=True):
        copy.books[url] = BookCopy(ctag)
    for part in _texts(head, "parts"):
        cards: Any = kept[part]
        for card in cards:
            base = urls[card["book"]]
            url = base + card["tail"] if "tail" in card else card["url"]
            contact = read_contact(card["contact"], "", 0)
            copy.books[base].cards[url] = (card["etag"], contact if contact.name else None)
    return copy


async def save_copy(copy: Copy, account: Account, owner: str, context: ToolExecutionContext) -> None:
    """Store a copy in place of the previous copy."""
    collection, key = _collection(account), hashlib.sha256(context.idempotency_key.encode()).hexdigest()[:16]
    before = {stored.key for stored in await context.storage.list(collection)}
    parts = [*_parts(copy)]
    for number, part in enumerate(parts[:MAX_PARTS]):
        await context.storage.put(collection, f"{key}.{number}", part)
    names = [f"{key}.{number}" for number in range(min(len(parts), MAX_PARTS))]
    # An oversized copy is read again each time.
    ctags = [book.ctag if len(parts) <= MAX_PARTS else "" for book in copy.books.values()]
    read_at = copy.read_at.isoformat() if copy.read_at else ""
    head: dict[str, Any] = {
        "owner": owner,
        "home": copy.home,
        "read_at": read_at,
        "books": [*copy.books],
        "ctags": ctags,
    }
    await context.storage.put(collection, _HEAD, head | {"parts": names})
    for gone in before.difference(names, [_HEAD]):
        await context.storage.delete(collection, gone)


def _parts(copy: Copy) -> Iterator[list[Any]]:
    """Yield the cards in parts that can be stored."""
    part, length = list[Any](), 0
    for at, (base, book) in enumerate(copy.books.items()):
        for url, (etag, contact) in book.cards.items():
            where = {"tail": url.removeprefix(base)} if url.startswith(base) else {"url": url}
            card: dict[str, Any] = {"book": at, "etag": etag, "contact": contact.to_json() if contact else {}, **where}
            size = len(json.dumps(card, ensure_ascii=False))
            if part and length + size > _PART:
                yield part
                part, length = [], 0
            part.append(card)
            length += size
    yield part


def _collection(account: Account) -> str:
    return stored_with(account.service, account.name)


def _texts(head: Mapping[str, Any], name: str) -> list[str]:
    return [str(value) for value in head[name]]
