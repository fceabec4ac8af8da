"""Write into the person's own address books on their request: at once, never over changes made elsewhere."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from abilities.contacts.addresses import Written
from abilities.contacts.book import CardPlace, Contact, contacts_of, merged
from abilities.contacts.card_text import CardChange, added, changed_line, changed_name, new_card, removed
from abilities.contacts.directory import CHANGE, people_of
from abilities.contacts.group import GROUP
from abilities.contacts.matching import folded, matches
from abilities.contacts.words import quoted, read_addresses, read_birthday, worded
from abilities.dav.address_books import AddressBooks
from core.tools.call_plans import plan_once
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry, gettext, tool

_SECONDS = 90.0


@tool(
    name="add_to_address_book",
    effect="idempotent",
    parallel=False,
    group=GROUP,
    accounts=(CHANGE,),
    timeout=_SECONDS,
)
async def add_to_address_book(
    name: str,
    context: ToolExecutionContext,
    addresses: Sequence[str] = (),
    nicknames: Sequence[str] = (),
    organization: str = "",
    birthday: str = "",
    address_book: str = "",
) -> str:
    """Put somebody new into the person's address book, which their phone shows; only when they say so.

    Of somebody who is kept here, all that is kept goes into it: then the name is enough.

    Args:
        name: Their whole name, as the person says it.
        addresses: Phone numbers, email addresses, "Slack U012AB3CD", "Telegram 123456789", as the person wrote them.
        nicknames: Other names by which the person calls them.
        organization: Where they work.
        birthday: As 1990-05-31, or --05-31 where the year is not known.
        address_book: The name of one address book, only if they named one.
    """

    async def plan() -> dict[str, Any]:
        new = replace(
            read_addresses(addresses, await Written.by(context)),
            name=worded(name),
            nicknames=tuple(map(worded, nicknames)),
            organization=worded(organization),
            birthday=read_birthday(birthday),
        )
        new = await _with_kept(new, context)
        if not (new.name and _addresses(new)):
            raise ToolRetry(gettext("What is their name, and their number or address?"))
        for other in (await people_of(context)).contacts:
            if other.card and folded(other.name) == folded(new.name) and _addresses(other) & _addresses(new):
                there = gettext("{name} is in your address book already.", name=quoted(other.name))
                raise ToolRetry(there, note="change_in_address_book changes it.")
        uid = hashlib.sha256(f"onevalet card {context.idempotency_key}".encode()).hexdigest()[:40]
        return {**await _book(address_book, context), "uid": uid, "name": new.name, "text": new_card(new, uid)}

    planned = await plan_once(context, plan)
    books = await _open(planned, context)
    written = await books.create(planned["url"], planned["uid"], planned["text"])
    card = {**_place(planned), "url": written.url, "etag": written.etag, "name": planned["name"]}
    title = gettext("New in the address book: {name}", name=planned["name"])
    context.undo.offer(title, take_back_card.name, {"card": card})
    return gettext("{name} is now in your address book “{book}”.", name=planned["name"], book=quoted(planned["book"]))


@tool(name="change_in_address_book", effect="idempotent", parallel=False, group=GROUP, timeout=_SECONDS)
async def change_in_address_book(
    contact: str,
    context: ToolExecutionContext,
    name: str | None = None,
    organization: str | None = None,
    birthday: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> str:
    """Change somebody's card in the person's address book; only when they say so.

    Args:
        contact: Their name; with a number or an address of theirs where several have it.
        name: Their new name.
        organization: Where they work now; empty to remove it.
        birthday: As 1990-05-31 or --05-31; empty to remove it.
        add: Phone numbers, email addresses, nicknames, "Slack U012AB3CD" or "Telegram 123456789" to add.
        remove: Phone numbers, email addresses, nicknames or ids to remove.
    """

    async def plan() -> dict[str, Any]:
        their_name, card = await _one_in_a_book(contact, context)
        place = {"service": card.service, "account": card.account, "url": card.url, "name": their_name}
        text = (await (await _open(place, context)).get(card.url)).text
        change, written = CardChange(), await Written.by(context)
        if name:
            change = changed_name(text, worded(name))
        if organization is not None:
            change = change.then(changed_line(text, "ORG", worded(organization)))
        if birthday is not None:
            change = change.then(changed_line(text, "BDAY", read_birthday(birthday)))
        if add:
            change = change.then(added(text, read_addresses(add, written)))
        for words in remove:
            gone = removed(change.applied(text) or text, words, written.region)
            if not gone.gone:
                raise ToolRetry(
                    gettext("There is nothing like that to remove."), note="find_contacts shows what is there."
                )
            change = change.then(gone)
        return {**place, "change": change.to_json()}

    planned = await plan_once(context, plan)
    change = CardChange.from_json(planned["change"])
    await _apply(change, planned, context)
    card = {**_place(planned), "url": planned["url"], "name": planned["name"], "change": change.inverse.to_json()}
    title = gettext("Changed in the address book: {name}", name=planned["name"])
    context.undo.offer(title, take_back_card.name, {"card": card})
    return gettext("The card of {name} in your address book is changed.", name=planned["name"])


@tool(name="take_back_card", effect="idempotent", inverse=True, timeout=_SECONDS)
async def take_back_card(card: dict[str, Any], context: ToolExecutionContext) -> str:
    """Take back a change of an address book.

    Args:
        card: Where it is, and what takes the change back.
    """
    if "change" in card:
        await _apply(CardChange.from_json(card["change"]), card, context)
        return gettext("Undone: the card of {name} is as it was.", name=card["name"])
    await (await _open(card, context)).delete(str(card["url"]), str(card["etag"]))
    return gettext("Undone: {name} is no longer in your address book.", name=card["name"])


async def _apply(change: CardChange, place: dict[str, Any], context: ToolExecutionContext) -> None:
    """Change a card unless it has been changed already, as after a repeat."""
    books = await _open(place, context)
    card = await books.get(str(place["url"]))
    if change.is_made(card.text):
        return
    text = change.applied(card.text)
    if text is None:
        raise ToolFailed(gettext("It has been changed elsewhere in the meantime, so nothing was overwritten."))
    await books.replace(card, text)


async def _book(name: str, context: ToolExecutionContext) -> dict[str, str]:
    """Return the address book that is meant, and its account. Raises `ToolRetry`."""
    opened = await context.accounts.open(CHANGE)
    books = (await AddressBooks(context.http, opened).look_up()).collections
    meant = [book for book in books if book.writable and folded(name) in ("", folded(book.name))]
    if not meant:
        raise ToolRetry(gettext("There is no address book of this name that I can write to."))
    account = opened.account
    return {"service": account.service, "account": account.name, "url": meant[0].url, "book": meant[0].name}


async def _open(place: dict[str, Any], context: ToolExecutionContext) -> AddressBooks:
    opened = await context.accounts.open(f"{place['service']}:{CHANGE}", str(place["account"]))
    return AddressBooks(context.http, opened)


async def _with_kept(new: Contact, context: ToolExecutionContext) -> Contact:
    """Return a person with their data stored here. Raises `ToolRetry` if several may be meant."""
    known = await contacts_of(context)
    kept = [one for one in known if folded(one.name) == folded(new.name)]
    if not kept and not _addresses(new):
        kept = matches(new.name, known)
    if len(kept) > 1:
        raise ToolRetry(gettext("Several contacts fit {name}.", name=new.name), note="find_contacts shows them: ask.")
    return replace(merged(kept[0], new), name=kept[0].name) if kept else new


async def _one_in_a_book(words: str, context: ToolExecutionContext) -> tuple[str, CardPlace]:
    """Return the name and the card of the contact whom the person means. Raises `ToolRetry`."""
    people = await people_of(context)
    found = matches(words, [one for one in people.contacts if one.card])
    if len(found) > 1:
        raise ToolRetry(
            gettext("Several contacts fit {name}.", name=words),
            note="find_contacts shows them: ask, then name one with a number or an address of theirs.",
        )
    if not found or (card := found[0].card) is None:
        raise ToolRetry(" ".join([gettext("There is no {name} in your address books.", name=words), *people.problems]))
    return quoted(found[0].name), card


def _addresses(contact: Contact) -> set[str]:
    return {*contact.phones, *map(str.casefold, contact.mails), *contact.slack, *contact.telegram}


def _place(planned: dict[str, Any]) -> dict[str, Any]:
    return {"service": planned["service"], "account": planned["account"]}
