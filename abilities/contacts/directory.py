"""All people whom a person knows: the contacts stored here, and those in their connected address books."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from zoneinfo import ZoneInfo

from abilities.contacts.book import Contact, contacts_of, merged
from abilities.contacts.copies import BookCopy, Copy, load_copy, save_copy
from abilities.contacts.matching import folded
from abilities.contacts.vcards import read_cards
from abilities.dav.address_books import AddressBooks
from onevalet import (
    Ability,
    Account,
    RefusedLogins,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    day_in_words,
    gettext,
)

READ, CHANGE = Ability.CONTACTS_READ.value, Ability.CONTACTS_CHANGE.value
MAX_CARDS = 5_000
"""Cards of an account that are known here."""
_SECONDS = 25.0
"""Time limit of reading an account in a call; the next call continues."""
_AGE = timedelta(days=1)
"""Age of a copy's `read_at` from which it is rewritten even if nothing else has changed."""


@dataclass(frozen=True, slots=True)
class People:
    """People whom a person knows. `problems` are sentences about unreadable books, and about the age of their data."""

    contacts: Sequence[Contact]
    problems: tuple[str, ...] = ()


async def people_of(context: ToolExecutionContext, *, ask: bool = True) -> People:
    """Return the people whom the person knows; a contact stored here and in an address book is returned once.

    `ask`: read changes from the servers. Books that do not answer stay as they were last read.
    """
    kept = await contacts_of(context)
    try:
        accounts = await context.accounts.list(READ)
    except ToolFailed:  # accounts cannot be connected here
        return People(kept)
    region = await context.person.region() if accounts else None
    books = await asyncio.gather(*(_known_by(account, region, context, ask=ask) for account in accounts))
    found = [one for account, (copy, _) in zip(accounts, books, strict=True) for one in copy.contacts(account)]
    found.sort(key=lambda contact: (folded(contact.name), contact.phones, contact.mails))
    return People(as_one(kept, found), tuple(problem for _, problem in books if problem))


def as_one(kept: Sequence[Contact], found: Iterable[Contact]) -> list[Contact]:
    """Return all contacts, merging those that share a name and an address."""
    known = list(kept)
    by_name: dict[str, list[int]] = {}
    for at, contact in enumerate(known):
        by_name.setdefault(folded(contact.name), []).append(at)
    for contact in found:
        namesakes = by_name.setdefault(folded(contact.name), [])
        same = next((at for at in namesakes if _is_same(known[at], contact)), None)
        if same is None:
            namesakes.append(len(known))
            known.append(contact)
            continue
        other = known[same]
        place = other if other.card else contact
        both = replace(merged(contact, other), key=other.key, number=other.number)
        known[same] = replace(both, source=place.source, card=place.card)
    return known


def _is_same(one: Contact, other: Contact) -> bool:
    """Return whether two namesakes are one person: they share an address, or either has none that could differ."""
    mine, theirs = _addresses(one), _addresses(other)
    return bool(mine & theirs) or not mine or not theirs


def _addresses(contact: Contact) -> set[str]:
    ids = (*(f"slack {member}" for member in contact.slack), *(f"telegram {user}" for user in contact.telegram))
    return {*contact.phones, *(mail.casefold() for mail in contact.mails), *ids}


async def _known_by(
    account: Account, region: str | None, context: ToolExecutionContext, *, ask: bool
) -> tuple[Copy, str]:
    """Return the contents of an account's address books, and a sentence about any problem."""
    owner = f"{account.address} {region or ''}"
    copy = await load_copy(account, owner, context)
    if not ask:
        return copy, ""
    try:
        opened = await context.accounts.open(f"{account.service}:{READ}", account.name)
        async with asyncio.timeout(_SECONDS):
            await _refresh(copy, AddressBooks(context.http, opened), region, _source(account))
    except (ToolFailed, ToolRetry, TimeoutError) as error:
        await _note_refusal(error, context)
        problem = _problem(account, copy, str(error), context)
    else:
        now = context.clock.now()
        copy.changed = copy.changed or copy.read_at is None or now - copy.read_at > _AGE
        copy.read_at, problem = now, ""
        if copy.count >= MAX_CARDS:
            name = name_of(account)
            problem = gettext("I can read at most {number} contacts of {account}.", account=name, number=MAX_CARDS)
    if copy.changed:  # also if it ended early: the next call continues from there
        await save_copy(copy, account, owner, context)
    return copy, problem


async def _refresh(copy: Copy, books: AddressBooks, region: str | None, source: str) -> None:
    """Read the changes since a copy was made."""
    home = await books.look_up(copy.home)
    there = {book.url for book in home.collections}
    for url in copy.books.keys() - there:
        del copy.books[url]
        copy.changed = True
    copy.home = home.url
    for book in home.collections:
        known = copy.books.setdefault(book.url, BookCopy())
        if known.ctag and known.ctag == book.ctag:
            continue
        etags = await books.etags(book)
        for url in known.cards.keys() - etags.keys():
            del known.cards[url]
            copy.changed = True
        wanted = [url for url, etag in etags.items() if url not in known.cards or known.cards[url][0] != etag]
        room = max(MAX_CARDS - copy.count, 0) + sum(url in known.cards for url in wanted)
        wanted = wanted[:room]
        while wanted:
            texts = await books.read(book, wanted)
            contacts = await asyncio.to_thread(_read, [*texts.values()], region, source)
            for url, contact in zip(texts, contacts, strict=True):
                known.cards[url] = (etags[url], contact)
            wanted = [url for url in wanted if url not in texts]
            copy.changed = True
        copy.changed = copy.changed or known.ctag != book.ctag
        known.ctag = book.ctag


def _read(texts: Sequence[str], region: str | None, source: str) -> list[Contact | None]:
    return [next(iter(read_cards(text.encode(), region, source)), None) for text in texts]


async def _note_refusal(error: Exception, context: ToolExecutionContext) -> None:
    """Report a refused login, so that the account's prompt asks the person for renewal."""
    refused = error.refused if isinstance(error, ToolFailed) else None
    accounts: object = context.accounts
    if refused is not None and isinstance(accounts, RefusedLogins):
        await accounts.refused(refused)


def _problem(account: Account, copy: Copy, why: str, context: ToolExecutionContext) -> str:
    name, reason = name_of(account), why or gettext("It takes too long.")
    if copy.read_at is None:
        return gettext("The address book of {account} cannot be read now: {reason}", account=name, reason=reason)
    return gettext(
        "The address book of {account} cannot be read now: {reason} What I know of it is from {day}.",
        account=name,
        reason=reason,
        day=day_in_words(copy.read_at.astimezone(ZoneInfo(context.timezone)).date()),
    )


def name_of(account: Account) -> str:
    """Return the name by which a person knows an account."""
    return account.address or account.name


def _source(account: Account) -> str:
    return f"the address book of {name_of(account)}"
