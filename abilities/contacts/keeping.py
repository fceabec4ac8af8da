"""Find, add, change, forget and list contacts, in the person's words."""

import re
from collections.abc import Sequence
from dataclasses import replace

from abilities.contacts.addresses import Written
from abilities.contacts.book import COLLECTION, MAX_ADDRESSES, MAX_CONTACTS, Contact, contacts_of, merged, read_contact
from abilities.contacts.changes import ContactChange, change_once, offer_back
from abilities.contacts.directory import people_of
from abilities.contacts.group import GROUP
from abilities.contacts.matching import folded, matches
from abilities.contacts.words import read_addresses, read_birthday, worded
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry, gettext, tool

_NUMBER = re.compile(r"(?:contact |no\.? ?|number |#)?([0-9]{1,6})", re.IGNORECASE)
_MAX_LISTED = 60
_TOLD = "the person's words"


@tool(name="find_contacts", effect="read", outside=True, group=GROUP, timeout=90)
async def find_contacts(name: str, context: ToolExecutionContext) -> str:
    """Find who the person means by a name, with numbers and addresses, here and in the person's address books.

    Use it before saying that nobody is known.

    Args:
        name: A name as the person says it, with a distinction if needed: "Sam", "my sister", "Sam from work".
    """
    people = await people_of(context)
    lines = [contact.line() for contact in matches(name, people.contacts)[:_MAX_LISTED]]
    if not lines:
        lines.append("Nobody of this name is kept. Do not guess: ask the person.")
    return "\n".join([*lines, *people.problems])


@tool(name="list_contacts", effect="read", outside=True, group=GROUP, timeout=90)
async def list_contacts(context: ToolExecutionContext, start: int = 1) -> str:
    """List the people whom the person knows, here and in the person's address books, by name.

    Args:
        start: The number of the first to list, from 1.
    """
    people = await people_of(context)
    known = sorted(people.contacts, key=lambda contact: folded(contact.name))
    if not known:
        return "\n".join(["No contacts are kept.", *people.problems])
    shown = known[max(start, 1) - 1 :][:_MAX_LISTED]
    rest = len(known) - max(start, 1) + 1 - len(shown)
    lines = [contact.line() for contact in shown]
    more = [f"{rest} more, from {start + len(shown)} on."] if rest > 0 else []
    return "\n".join([*lines, *more, *people.problems])


@tool(name="add_contact", effect="idempotent", parallel=False, group=GROUP)
async def add_contact(
    name: str,
    context: ToolExecutionContext,
    addresses: Sequence[str] = (),
    nicknames: Sequence[str] = (),
    relation: str = "",
    organization: str = "",
    birthday: str = "",
    notes: str = "",
) -> str:
    """Keep a person's contact, or add to an existing entry. Give addresses as the person wrote them.

    Args:
        name: Their whole name, as the person says it.
        addresses: Their phone numbers and email addresses, "Slack U012AB3CD", "Telegram 123456789".
        nicknames: Other names by which the person calls them.
        relation: Their relation to the person: "sister", "dentist".
        organization: Where they work.
        birthday: As 1990-05-31, or --05-31 where the year is not known.
        notes: Anything else worth keeping.
    """

    async def plan() -> Sequence[ContactChange]:
        new = replace(
            read_addresses(addresses, await Written.by(context)),
            name=worded(name),
            nicknames=tuple(worded(nickname) for nickname in nicknames),
            relation=worded(relation),
            organization=worded(organization),
            birthday=read_birthday(birthday),
            notes=worded(notes),
            source=_TOLD,
            key=context.idempotency_key,
        )
        if not new.name:
            raise ToolRetry("A contact has a name; ask for it.")
        known = await contacts_of(context)
        same = [contact for contact in known if folded(contact.name) == folded(new.name)]
        if len(same) == 1 and not _differs(same[0], new):
            return [ContactChange.between(same[0], merged(same[0], new))]
        if len(known) >= MAX_CONTACTS:
            raise ToolFailed(gettext("No more than {number} contacts can be kept.", number=MAX_CONTACTS))
        return [ContactChange.between(None, new)]

    [change] = await change_once(context, plan)
    kept = await _kept(change, context)
    if change.before is None:
        offer_back(gettext("Contact: {contact}", contact=kept.shown()), [change], context)
        return gettext("Kept as contact {number}: {contact}", number=kept.number, contact=kept.shown())
    offer_back(gettext("Changed contact: {contact}", contact=kept.shown()), [change], context)
    return gettext("Added to contact {number}: {contact}", number=kept.number, contact=kept.shown())


@tool(name="change_contact", effect="idempotent", parallel=False, group=GROUP)
async def change_contact(
    contact: str,
    context: ToolExecutionContext,
    name: str | None = None,
    relation: str | None = None,
    organization: str | None = None,
    birthday: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> str:
    """Change a contact that is kept here; change_in_address_book changes a card in the address book.

    Args:
        contact: Their number, as find_contacts gives it, or their name.
        name: Their new name.
        relation: Their new relation to the person; empty to remove it.
        organization: Where they work now; empty to remove it.
        birthday: As 1990-05-31 or --05-31; empty to remove it.
        add: Phone numbers, email addresses, nicknames, "Slack U012AB3CD" or "Telegram 123456789" to add.
        remove: Phone numbers, email addresses, nicknames or ids to remove.
    """

    async def plan() -> Sequence[ContactChange]:
        found = await one_contact(contact, context)
        changed = replace(
            found,
            name=worded(name) if name else found.name,
            relation=found.relation if relation is None else worded(relation),
            organization=found.organization if organization is None else worded(organization),
            birthday=found.birthday if birthday is None else read_birthday(birthday),
        )
        if add:
            changed = merged(changed, read_addresses(add, await Written.by(context)))
        return [ContactChange.between(found, _without(changed, remove) if remove else changed)]

    [change] = await change_once(context, plan)
    kept = await _kept(change, context)
    offer_back(gettext("Changed contact: {contact}", contact=kept.shown()), [change], context)
    return gettext("Contact {number} is now: {contact}", number=kept.number, contact=kept.shown())


@tool(name="forget_contact", effect="idempotent", parallel=False, group=GROUP)
async def forget_contact(contact: str, context: ToolExecutionContext) -> str:
    """Delete a contact that is kept here. Nobody is notified, and address books stay as they are.

    Args:
        contact: Their number, as find_contacts gives it, or their name.
    """

    async def plan() -> Sequence[ContactChange]:
        return [ContactChange.between(await one_contact(contact, context), None)]

    [change] = await change_once(context, plan)
    shown = change.contact.shown()
    offer_back(gettext("Forgotten contact: {contact}", contact=shown), [change], context)
    return gettext("The contact is forgotten: {contact}", contact=shown)


async def _kept(change: ContactChange, context: ToolExecutionContext) -> Contact:
    """Return a contact as a call has left it, with its number."""
    stored = await context.storage.get(COLLECTION, change.key)
    return read_contact(change.after, change.key, stored.number if stored else 0)


async def one_contact(words: str, context: ToolExecutionContext) -> Contact:
    """Return the contact that is meant, by number or name. Raises `ToolRetry`."""
    known = await contacts_of(context)
    if number := _NUMBER.fullmatch(words.strip()):
        found = [contact for contact in known if contact.number == int(number[1])]
    else:
        found = matches(words, known)
    if not found:
        listed = matches(words, (await people_of(context, ask=False)).contacts)
        note = "They are in an address book only: change_in_address_book changes them there." if listed else ""
        raise ToolRetry(gettext("There is no contact {name}.", name=words), note=note)
    if len(found) > 1:
        named = ", ".join(f"{contact.number}. {contact.name}" for contact in found[:10])
        raise ToolRetry(
            gettext("Several contacts fit {name}: {contacts}.", name=words, contacts=named), note="Ask which one."
        )
    return found[0]


def _without(contact: Contact, removed: Sequence[str]) -> Contact:
    gone = {folded(item) for item in removed} | {re.sub(r"[^\d+]", "", item) for item in removed}

    def left(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(value for value in values if folded(value) not in gone)

    changed = replace(
        contact,
        nicknames=left(contact.nicknames),
        phones=left(contact.phones),
        mails=left(contact.mails),
        slack=left(contact.slack),
        telegram=left(contact.telegram),
    )
    if changed == contact:
        raise ToolRetry(gettext("There is nothing like that to remove."), note="Name it exactly as find_contacts does.")
    return changed


def _differs(one: Contact, other: Contact) -> bool:
    """Return whether two namesakes are different people: both have a relation or an organization, and these differ."""
    return (
        any(
            mine and theirs and folded(mine) != folded(theirs)
            for mine, theirs in ((one.relation, other.relation), (one.organization, other.organization))
        )
        or len(one.phones) + len(other.phones) > MAX_ADDRESSES
    )
