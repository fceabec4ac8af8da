"""Contact cards (vCards) that people send as files: read as words of others, and kept when the person consents."""

import asyncio
from collections.abc import Mapping, Sequence

from abilities.contacts.book import MAX_CONTACTS, Contact, contacts_of, merged
from abilities.contacts.changes import ContactChange, change_once, offer_back
from abilities.contacts.group import GROUP
from abilities.contacts.matching import folded, matches
from abilities.contacts.vcards import read_cards
from onevalet import (
    AgentResult,
    ApprovalRequest,
    InputField,
    StandardAgent,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    gettext,
    gettext_noop,
    ngettext,
    tool,
    valet,
)

_MAX_SHOWN = 50
_NAMES = (gettext_noop("file"), gettext_noop("names"), gettext_noop("contacts"), gettext_noop("save contacts"))
"""Names of the fields and the agent on cards and in questions."""


@tool(name="read_contact_file", effect="read", outside=True, group=GROUP)
async def read_contact_file(file: str, context: ToolExecutionContext) -> str:
    """Read the contacts in a file with contact cards (.vcf) that the person sent.

    Args:
        file: The file's id, such as f1a2b3c4d5.
    """
    found = await _cards_in(file, context)
    lines = [contact.shown() for contact in found[:_MAX_SHOWN]]
    more = len(found) - len(lines)
    return "\n".join([*lines, f"{more} more."] if more else lines)


@valet(name="SaveContactsAgent", effect="idempotent", timeout=60, group=GROUP)
class SaveContactsAgent(StandardAgent):
    """Keep contacts of a file with contact cards (.vcf) that the person sent, when they say so."""

    file = InputField(gettext_noop("Which file?"), description="The file's id, such as f1a2b3c4d5")
    names = InputField(
        gettext_noop("Who of it?"),
        description="The names of those to keep; leave it out for all",
        type=list[str],
        required=False,
        default=[],
    )
    contacts = InputField("", description="Leave it out.", type=list[str], required=False, default=[])

    def needs_approval(self) -> bool:
        return True

    async def ask_first(self) -> Mapping[str, str]:
        self.contacts = [contact.shown() for contact in await self._chosen()]
        return {}

    def approval_request(self) -> ApprovalRequest:
        count = len(self.contacts)
        summary = ngettext("Keep {number} contact", "Keep {number} contacts", count)
        details = {"contacts": self.contacts}
        return ApprovalRequest(self.valet.name, summary, details, ("approve", "cancel"), in_words=("file", "names"))

    async def on_running(self, msg: str) -> AgentResult:
        changes = await change_once(self.context, self._plan)
        named = [change.contact.name for change in changes]
        names = ", ".join(named[:10]) + ("…" if len(named) > 10 else "")
        offer_back(gettext("Contacts: {names}", names=names), changes, self.context)
        return self.make_result(raw_message=gettext("Kept: {names}.", names=names))

    async def _plan(self) -> Sequence[ContactChange]:
        chosen = await self._chosen()
        if [contact.shown() for contact in chosen] != self.contacts:
            raise ToolFailed(gettext("Nothing was kept: the file has changed in the meantime."))
        before = {contact.key: contact for contact in await contacts_of(self.context)}
        after, touched = dict(before), dict[str, None]()
        for at, contact in enumerate(chosen):
            kept = _with_known(contact, f"{self.context.idempotency_key}:{at}", [*after.values()])
            after[kept.key], touched[kept.key] = kept, None
        if len(after) > MAX_CONTACTS:
            raise ToolFailed(gettext("No more than {number} contacts can be kept.", number=MAX_CONTACTS))
        return [ContactChange.between(before.get(key), after[key]) for key in touched]

    async def _chosen(self) -> Sequence[Contact]:
        found = await _cards_in(self.file, self.context)
        if not self.names:
            return found[:_MAX_SHOWN]
        chosen = [contact for name in self.names for contact in matches(name, found)]
        if not chosen:
            raise ToolRetry(gettext("Nobody with this name is in the file."), note="read_contact_file lists the names.")
        return list(dict.fromkeys(chosen))[:_MAX_SHOWN]


async def _cards_in(file: str, context: ToolExecutionContext) -> list[Contact]:
    """Return the contacts in a file. Raises `ToolFailed`."""
    known, sent = await context.files.find(file), await context.files.fetch(file)
    region = await context.person.region()
    found = await asyncio.to_thread(read_cards, sent.body, region, f"the file {known.name}")
    if not found:
        raise ToolFailed(gettext("There are no contact cards in this file."))
    return found


def _with_known(contact: Contact, key: str, others: Sequence[Contact]) -> Contact:
    """Return the contact to store: a new contact, or that of the same name and address with the card's data."""
    addresses = {*contact.phones, *contact.mails}
    for other in others:
        if folded(other.name) == folded(contact.name) and addresses & {*other.phones, *other.mails}:
            return merged(other, contact)
    return merged(Contact(contact.name, source=contact.source, key=key), contact)
