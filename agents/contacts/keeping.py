"""Find, add, change, forget and list contacts, in the person's words."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from agents.contacts.addresses import Written
from agents.contacts.book import MAX_ADDRESSES, MAX_CONTACTS, Contact, contacts_of, keep, merged
from agents.contacts.matching import folded, matches
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry, gettext, tool, with_note

_NUMBER = re.compile(r"(?:contact |no\.? ?|number |#)?([0-9]{1,6})", re.IGNORECASE)
_YEARLESS = re.compile(r"--(0[1-9]|1[0-2])-?(0[1-9]|[12][0-9]|3[01])")
_MAX_LISTED = 60
_MAX_WORDS = 500
_TOLD = "the person's words"


@tool(name="find_contacts", effect="read", outside=True, group="contacts")
async def find_contacts(name: str, context: ToolExecutionContext) -> str:
    """Find who the person means by a name, with their numbers and addresses; use it before saying that nobody is known.

    Args:
        name: A name as the person says it, with what tells two apart: "Sam", "my sister", "Sam from work".
    """
    found = matches(name, await contacts_of(context))
    if not found:
        return "Nobody of this name is kept. Do not guess: ask the person."
    return "\n".join(f"{contact.number}. {contact.shown()}" for contact in found[:_MAX_LISTED])


@tool(name="list_contacts", effect="read", outside=True, group="contacts")
async def list_contacts(context: ToolExecutionContext, start: int = 1) -> str:
    """List the people whom the person knows, by name.

    Args:
        start: From which one on, from 1.
    """
    known = sorted(await contacts_of(context), key=lambda contact: folded(contact.name))
    if not known:
        return "No contacts are kept."
    shown = known[max(start, 1) - 1 :][:_MAX_LISTED]
    rest = len(known) - max(start, 1) + 1 - len(shown)
    lines = [f"{contact.number}. {contact.shown()}" for contact in shown]
    return "\n".join([*lines, f"{rest} more, from {start + len(shown)} on."] if rest > 0 else lines)


@tool(name="add_contact", effect="idempotent", parallel=False, group="contacts")
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
    """Keep somebody whom the person knows, or add to what is kept of them. Give addresses as the person wrote them.

    Args:
        name: Their whole name, as the person says it.
        addresses: Their phone numbers and email addresses, "Slack U012AB3CD", "Telegram 123456789".
        nicknames: What else the person calls them.
        relation: What they are to the person: "sister", "dentist".
        organization: Where they work.
        birthday: As 1990-05-31, or --05-31 where the year is not known.
        notes: Anything else worth keeping.
    """
    new = replace(
        _added(addresses, await Written.by(context)),
        name=_worded(name),
        nicknames=tuple(_worded(nickname) for nickname in nicknames),
        relation=_worded(relation),
        organization=_worded(organization),
        birthday=_day(birthday),
        notes=_worded(notes),
        source=_TOLD,
        key=context.idempotency_key,
    )
    known = await contacts_of(context)
    same = [contact for contact in known if folded(contact.name) == folded(new.name) and contact.key != new.key]
    if len(same) == 1 and not _differs(same[0], new):
        kept = await keep(merged(same[0], new), context)
        return gettext("Added to contact {number}: {contact}", number=kept.number, contact=kept.shown())
    if len(known) >= MAX_CONTACTS:
        raise ToolFailed(gettext("No more than {number} contacts can be kept.", number=MAX_CONTACTS))
    kept = await keep(new, context)
    return gettext("Kept as contact {number}: {contact}", number=kept.number, contact=kept.shown())


@tool(name="change_contact", effect="idempotent", parallel=False, group="contacts")
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
    """Change what is kept of somebody.

    Args:
        contact: Their number, as find_contacts gives it, or their name.
        name: Their new name.
        relation: What they are to the person now; empty to remove it.
        organization: Where they work now; empty to remove it.
        birthday: As 1990-05-31 or --05-31; empty to remove it.
        add: Phone numbers, email addresses, nicknames, "Slack U012AB3CD" or "Telegram 123456789" to add.
        remove: Phone numbers, email addresses, nicknames or ids to remove.
    """
    found = await one_contact(contact, context)
    changed = replace(
        found,
        name=_worded(name) if name else found.name,
        relation=found.relation if relation is None else _worded(relation),
        organization=found.organization if organization is None else _worded(organization),
        birthday=found.birthday if birthday is None else _day(birthday),
    )
    if add:
        changed = merged(changed, _added(add, await Written.by(context)))
    if remove:
        changed = _without(changed, remove)
    kept = await keep(changed, context)
    return gettext("Contact {number} is now: {contact}", number=kept.number, contact=kept.shown())


@tool(name="forget_contact", effect="idempotent", parallel=False, group="contacts")
async def forget_contact(contact: str, context: ToolExecutionContext) -> str:
    """Forget somebody for good. Nobody else is told.

    Args:
        contact: Their number, as find_contacts gives it, or their name.
    """
    found = await one_contact(contact, context)
    await context.storage.delete("contacts", found.key)
    text = gettext("Contact {number} is forgotten: {contact}", number=found.number, contact=found.shown())
    return with_note(text, "To have them back, the person gives you the same again.")


async def one_contact(words: str, context: ToolExecutionContext) -> Contact:
    """Return the one contact that is meant, by number or name. Raises `ToolRetry`."""
    known = await contacts_of(context)
    if number := _NUMBER.fullmatch(words.strip()):
        found = [contact for contact in known if contact.number == int(number[1])]
    else:
        found = matches(words, known)
    if not found:
        raise ToolRetry(gettext("There is no contact {name}.", name=words))
    if len(found) > 1:
        named = ", ".join(f"{contact.number}. {contact.name}" for contact in found[:10])
        raise ToolRetry(
            gettext("Several contacts fit {name}: {contacts}.", name=words, contacts=named), note="Ask which one."
        )
    return found[0]


def _handles(details: str, written: Written) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the Slack and Telegram ids in some details, and the rest as notes."""
    slack = tuple(written.member(member) for member in re.findall(r"\b[Ss]lack:? ([UW][0-9A-Z]{6,20})\b", details))
    telegram = tuple(written.user(user) for user in re.findall(r"\b[Tt]elegram:? ([0-9]{5,15})\b", details))
    rest = re.sub(r"\b(?:[Ss]lack:? [UW][0-9A-Z]{6,20}|[Tt]elegram:? [0-9]{5,15})\b[;,. ]*", "", details)
    return slack, telegram, _worded(rest)


def _added(given: Sequence[str], written: Written) -> Contact:
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
        raise ToolRetry(gettext("There is nothing of that to remove."), note="Name it exactly as find_contacts does.")
    return changed


def _differs(one: Contact, other: Contact) -> bool:
    """Return whether two contacts of one name are two people: both say what they are, and not the same."""
    return (
        any(
            mine and theirs and folded(mine) != folded(theirs)
            for mine, theirs in ((one.relation, other.relation), (one.organization, other.organization))
        )
        or len(one.phones) + len(other.phones) > MAX_ADDRESSES
    )


def _worded(text: str) -> str:
    words = " ".join(text.split())
    if len(words) > _MAX_WORDS:
        raise ToolRetry(gettext("That is too long: at most {number} characters.", number=_MAX_WORDS))
    return words


def _day(text: str) -> str:
    """Return a birthday as it is stored. Raises `ToolRetry`."""
    if not text or (yearless := _YEARLESS.fullmatch(text)):
        return f"--{yearless[1]}-{yearless[2]}" if text and yearless else ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise ToolRetry("A birthday is given as 1990-05-31, or as --05-31 without a year.") from error
