"""A person's contacts, as the tenant's storage keeps them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from onevalet import ToolExecutionContext, gettext

COLLECTION = "contacts"
MAX_CONTACTS = 2_000
MAX_ADDRESSES = 20
"""Maximum number of a contact's addresses of a kind."""
_PLACE = ("key", "number", "card")
"""Fields about a contact's place, and not about the person."""


@dataclass(frozen=True, slots=True)
class CardPlace:
    """The place of a card: its address in an address book of an account."""

    service: str
    account: str
    url: str


@dataclass(frozen=True, slots=True)
class Contact:
    """A person whom the tenant knows. `key` and `number` are the storage's; 0: not stored here.

    `phones` are E.164, `slack` ids of members, `telegram` numbers of users. `relation` is their relation to the tenant,
    `organization` their employer, `source` the origin of the data. `card`: None if they are in no address book.
    """

    name: str
    nicknames: tuple[str, ...] = ()
    relation: str = ""
    organization: str = ""
    phones: tuple[str, ...] = ()
    mails: tuple[str, ...] = ()
    slack: tuple[str, ...] = ()
    telegram: tuple[str, ...] = ()
    birthday: str = ""
    notes: str = ""
    source: str = ""
    key: str = ""
    number: int = 0
    card: CardPlace | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the stored form, without empty values."""
        given = {name: value for name, value in asdict(self).items() if value and name not in _PLACE}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    def addresses(self, channel: str) -> tuple[str, ...]:
        """Return the contact's addresses on a channel; Slack finds people by their mail addresses too."""
        match channel:
            case "sms":
                return self.phones
            case "slack":
                return self.slack or self.mails
            case "telegram":
                return self.telegram
        return ()

    def shown(self) -> str:
        """Return all data of the contact, on a single line."""
        names = f" ({', '.join(self.nicknames)})" if self.nicknames else ""
        known = [
            self.relation,
            self.organization,
            *self.phones,
            *self.mails,
            *(f"Slack {member}" for member in self.slack),
            *(f"Telegram {user}" for user in self.telegram),
            gettext("birthday {day}", day=self.birthday) if self.birthday else "",
            self.notes,
        ]
        facts = "; ".join(fact for fact in known if fact)
        return f"{self.name}{names}: {facts}" if facts else f"{self.name}{names}"

    def line(self) -> str:
        """Return the line for the model: with its number here, or its other source."""
        if self.number and self.card:
            return f"{self.number}. {self.shown()} (also in {self.source})"
        return f"{self.number}. {self.shown()}" if self.number else f"- {self.shown()} (in {self.source})"


def read_contact(value: object, key: str, number: int) -> Contact:
    """Return a stored contact."""
    stored: Mapping[str, object] = value if isinstance(value, dict) else {}
    words = {
        name: str(stored.get(name, "")) for name in ("name", "relation", "organization", "birthday", "notes", "source")
    }
    several = {name: _texts(stored.get(name)) for name in ("nicknames", "phones", "mails", "slack", "telegram")}
    return Contact(
        words["name"],
        several["nicknames"],
        words["relation"],
        words["organization"],
        several["phones"],
        several["mails"],
        several["slack"],
        several["telegram"],
        words["birthday"],
        words["notes"],
        words["source"],
        key,
        number,
    )


async def contacts_of(context: ToolExecutionContext) -> list[Contact]:
    """Return the contacts that are kept here, by number."""
    return [read_contact(kept.value, kept.key, kept.number) for kept in await context.storage.list(COLLECTION)]


def merged(contact: Contact, other: Contact) -> Contact:
    """Return a contact with another contact's additions."""

    def both(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*mine, *theirs]))[:MAX_ADDRESSES]

    return replace(
        contact,
        nicknames=both(contact.nicknames, other.nicknames),
        relation=other.relation or contact.relation,
        organization=other.organization or contact.organization,
        phones=both(contact.phones, other.phones),
        mails=both(contact.mails, other.mails),
        slack=both(contact.slack, other.slack),
        telegram=both(contact.telegram, other.telegram),
        birthday=other.birthday or contact.birthday,
        notes=other.notes or contact.notes,
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
