"""Write to others on the person's behalf: to a single contact, with consent to recipient, channel and text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from abilities.contacts.addresses import Written, is_mail, is_member, number_of
from abilities.contacts.book import Contact
from abilities.contacts.directory import people_of
from abilities.contacts.group import GROUP
from abilities.contacts.matching import folded, matches
from abilities.contacts.words import quoted
from onevalet import (
    AgentResult,
    ApprovalRequest,
    InputField,
    StandardAgent,
    ToolFailed,
    ToolRetry,
    gettext,
    gettext_noop,
    listed,
    valet,
)

_NAMES = (
    gettext_noop("to"),
    gettext_noop("text"),
    gettext_noop("channel"),
    gettext_noop("address"),
    gettext_noop("recipient"),
    gettext_noop("message"),
    gettext_noop("unsure"),
    gettext_noop("message someone"),
)
"""Names of the fields and the agent on cards and in questions."""
_CHANNELS = {"sms": "SMS", "slack": "Slack", "telegram": "Telegram"}
_ORDER = ("sms", "telegram", "slack")
_SETTLED = "Leave it out."
_MAX_CHOICES = 8


def _is_channel(given: str) -> bool:
    return given in ("", *_CHANNELS)


@valet(name="MessageSomeoneAgent", effect="idempotent", timeout=60, group=GROUP, standing=("text",))
class MessageSomeoneAgent(StandardAgent):
    """Write to somebody else for the person by SMS, Slack or Telegram; their answer comes back to the person."""

    to = InputField(
        gettext_noop("Who should get it?"),
        description='A contact as the person names them ("Sam", "my sister"), or a number that they wrote here',
    )
    text = InputField(gettext_noop("What should it say?"), description="The whole text, as it is to be sent")
    channel = InputField(
        gettext_noop("By SMS, Slack or Telegram?"),
        description="sms, slack or telegram, where the person named one",
        required=False,
        default="",
        validator=_is_channel,
        validator_description=gettext_noop("it must be sms, slack or telegram"),
    )
    address = InputField(
        gettext_noop("Which number or address?"),
        description="One of the contact's numbers or addresses, where the person chose it",
        required=False,
        default="",
    )
    opening = InputField("", description=_SETTLED, required=False, default="")
    closing = InputField("", description=_SETTLED, required=False, default="")
    unsure = InputField("", description=_SETTLED, required=False, default="")

    def needs_approval(self) -> bool:
        return True

    async def ask_first(self) -> Mapping[str, str]:
        found = await self._found()
        if isinstance(found, dict):
            return found
        contact, channel, address = found
        addressee = await self.context.messages.find(channel, address)
        self.to, self.channel, self.address = contact or addressee.name or address, channel, address
        self.opening, self.closing = addressee.opening, addressee.closing
        self.text = await self.context.messages.as_sent(channel, self.text.strip())
        await self.context.messages.as_sent(channel, self._whole())
        return {}

    def approval_request(self) -> ApprovalRequest:
        channel = _CHANNELS.get(self.channel, self.channel)
        recipient = self.to if self.to == self.address else f"{self.to}, {self.address}"
        summary = gettext("Write to {name} by {channel}", name=self.to, channel=channel)
        details = {"recipient": recipient, "channel": channel, "message": self._whole()}
        if self.unsure:
            details["unsure"] = self.unsure
        request = replace(super().approval_request(), action_summary=summary, details=details)
        return replace(request, in_words=("to", "address", "opening", "closing", "text", "unsure"))

    async def on_running(self, msg: str) -> AgentResult:
        if not await self._is_theirs():
            raise ToolFailed(
                gettext("Nothing was sent: {address} is not an address of {name}.", address=self.address, name=self.to)
            )
        addressee = await self.context.messages.find(self.channel, self.address)
        if addressee.opening and (self.opening, self.closing) != (addressee.opening, addressee.closing):
            raise ToolFailed(gettext("Nothing was sent: it has to say on whose behalf it comes."), note="Call again.")
        await self.context.messages.send(addressee, self.to, self._whole(), self.context.idempotency_key)
        self.context.undo.final(
            gettext("Message to {name}", name=self.to),
            gettext("A sent message cannot be recalled; I can write to them again."),
        )
        return self.make_result(
            raw_message=gettext(
                "On its way to {name} by {channel}. What they answer comes to you.",
                name=self.to,
                channel=_CHANNELS[self.channel],
            )
        )

    def _whole(self) -> str:
        """Return the text as it is sent: exactly the text that the person consents to."""
        return "\n".join(part for part in (self.opening, self.text, self.closing) if part)

    async def _found(self) -> tuple[str, str, str] | dict[str, str]:
        """Return the name, the channel and the address; or a question, if any of them is missing or ambiguous."""
        written = await Written.by(self.context)
        if direct := _direct(self.to.strip(), self.channel, written.region):
            channel, address = direct
            owners = await self._owners(channel, address)
            if not owners:
                written.of(channel, address)
            return owners[0] if len(owners) == 1 else "", channel, address
        people = await people_of(self.context)
        self.unsure = " ".join(people.problems)
        contacts = matches(self.to, people.contacts)
        if not contacts:
            unknown = gettext("I know nobody called {name}. What is their number?", name=self.to)
            return {"to": f"{self.unsure} {unknown}".strip()}
        if len(contacts) > 1:
            return {"to": gettext("Which one: {contacts}?", contacts=listed(_told_apart(contacts), "or"))}
        return self._chosen(replace(contacts[0], name=quoted(contacts[0].name)), written)

    def _chosen(self, contact: Contact, written: Written) -> tuple[str, str, str] | dict[str, str]:
        channels = [name for name in _ORDER if name in self.context.messages.channels]
        if self.address:
            known = [c for c in channels if _same(self.address, contact.addresses(c), written.region)]
            channel = self.channel or (known[0] if known else "")
            if not channel:
                raise ToolRetry(
                    gettext("{address} is not an address of {name}.", address=self.address, name=contact.name),
                    note="Use one of theirs, or one that the person writes.",
                )
            address = _same(self.address, contact.addresses(channel), written.region)
            return contact.name, channel, address or written.of(channel, self.address)
        usable = [name for name in channels if contact.addresses(name)]
        channel = self.channel or (usable[0] if usable else "")
        addresses = contact.addresses(channel)
        if not addresses:
            return {"address": _what_address(contact.name, channel)}
        if len(addresses) > 1:
            return {
                "address": gettext(
                    "Which address of {name}: {addresses}?", name=contact.name, addresses=listed(addresses, "or")
                )
            }
        return contact.name, channel, addresses[0]

    async def _is_theirs(self) -> bool:
        """Return whether the address still belongs to the name on the card: the person may have changed either."""
        if owners := await self._owners(self.channel, self.address):
            return folded(self.to) in map(folded, owners)
        written = await Written.by(self.context)
        return bool(written.of(self.channel, self.address) == self.address)

    async def _owners(self, channel: str, address: str) -> list[str]:
        """Return the names of those whose address it is, of all whom the person knows."""
        known = (await people_of(self.context, ask=False)).contacts
        return [quoted(contact.name) for contact in known if address in contact.addresses(channel)]


def _direct(given: str, channel: str, region: str | None) -> tuple[str, str] | None:
    """Return the channel and the address that a text states; None for a name."""
    if is_mail(given) or is_member(given):
        return "slack", given
    if channel == "telegram" and given.isdecimal():
        return "telegram", given
    number = number_of(given, region) if channel in ("", "sms") else None
    if number is None and given[:1] in "+0123456789" and any(c.isdigit() for c in given):
        raise ToolRetry(
            gettext("I cannot use {text} as a phone number: please write it with its country code.", text=given)
        )
    return ("sms", number) if number else None


def _same(given: str, addresses: Sequence[str], region: str | None) -> str:
    """Return the address that is meant, of several; empty for none."""
    meant = {given.casefold(), number_of(given, region) or ""}
    return next((address for address in addresses if address.casefold() in meant), "")


def _told_apart(contacts: Sequence[Contact]) -> list[str]:
    """Return distinct names: with the relation, the organization or an address if two people share a name."""
    names = [quoted(contact.name) for contact in contacts]
    told = [
        name if names.count(name) == 1 else gettext("{name} ({about})", name=name, about=_about(contact))
        for name, contact in zip(names, contacts, strict=True)
    ]
    more = len(told) - _MAX_CHOICES
    return [*told[:_MAX_CHOICES], gettext("{number} more", number=more)] if more > 0 else told


def _about(contact: Contact) -> str:
    known = (contact.relation, contact.organization, *contact.phones, *contact.mails, *contact.nicknames)
    return quoted(next((words for words in known if words), str(contact.number)))


def _what_address(name: str, channel: str) -> str:
    match channel:
        case "slack":
            return gettext("I have no Slack member or mail address for {name}. What is it?", name=name)
        case "telegram":
            return gettext("I have no Telegram number for {name}. What is it?", name=name)
    return gettext("I have no number for {name}. What is it?", name=name)
