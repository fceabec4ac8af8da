"""The request to a person for an account: a sentence with the link, in their language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from abilities.accounts.kinds import kinds_of
from abilities.accounts.links import VALID
from core.credentials.choice import account_name
from core.credentials.needs import read_need
from core.credentials.types import Ability, Account
from core.db.database import Database
from core.language.catalogue import gettext, gettext_noop, listed
from core.tools.account_access import MissingAccess, Prompt

_CONNECT: Mapping[Ability, str] = {
    Ability.MAIL_READ: gettext_noop("To read your mail I need your mailbox: connect it here: {link}"),
    Ability.MAIL_CHANGE: gettext_noop("To sort your mail I need your mailbox: connect it here: {link}"),
    Ability.MAIL_SEND: gettext_noop("To send mail for you I need your mailbox: connect it here: {link}"),
    Ability.CALENDAR_READ: gettext_noop("To look into your calendar I need access to it: connect it here: {link}"),
    Ability.CALENDAR_CHANGE: gettext_noop("To keep your calendar I need access to it: connect it here: {link}"),
    Ability.CONTACTS_READ: gettext_noop("To look up your contacts I need access to them: connect them here: {link}"),
    Ability.CONTACTS_CHANGE: gettext_noop("To keep your contacts I need access to them: connect them here: {link}"),
}
WORD = "connect"
"""The word for a new link for whatever waits (`abilities.accounts.waiting`)."""
_RENEW = gettext_noop("I no longer have access to your account {account}: connect it again here: {link}")
_EXTEND: Mapping[Ability, str] = {
    Ability.MAIL_READ: gettext_noop("Your account {account} does not let me read mail yet: allow it here: {link}"),
    Ability.MAIL_CHANGE: gettext_noop("Your account {account} does not let me sort mail yet: allow it here: {link}"),
    Ability.MAIL_SEND: gettext_noop("Your account {account} does not let me send mail yet: allow it here: {link}"),
    Ability.CALENDAR_READ: gettext_noop(
        "Your account {account} does not let me see its calendars yet: allow it here: {link}"
    ),
    Ability.CALENDAR_CHANGE: gettext_noop(
        "Your account {account} does not let me change its calendars yet: allow it here: {link}"
    ),
    Ability.CONTACTS_READ: gettext_noop(
        "Your account {account} does not let me see its contacts yet: allow it here: {link}"
    ),
    Ability.CONTACTS_CHANGE: gettext_noop(
        "Your account {account} does not let me change its contacts yet: allow it here: {link}"
    ),
}


@dataclass(frozen=True, slots=True)
class ConnectLink:
    """A link to the page on which a person connects an account.

    `choices` are the services among which the page lets them choose, in words. `account` is the account that it
    renews or extends.
    """

    url: str
    choices: Sequence[str] = ()
    account: Account | None = None


class ConnectLinks(Protocol):
    """Makes links to connect accounts."""

    async def parts(self, tenant_id: str, wanted: MissingAccess) -> Sequence[MissingAccess]:
        """Return the missing access in parts that a single service can serve each: whole if a service serves it all."""
        ...

    async def link(self, tenant_id: str, conversation_id: str | None, wanted: MissingAccess) -> ConnectLink | None:
        """Return a link for the missing access; None if no service that could serve can be connected."""
        ...


@dataclass(frozen=True, slots=True)
class LinkAsker:
    """Ask people for accounts, by links to our pages."""

    database: Database
    links: ConnectLinks

    def for_turn(
        self, tenant_id: str, turn_id: str, conversation_id: str | None, *, in_run: bool = False
    ) -> "LinkPrompts":
        """Return the prompts for the person of a turn. `in_run`: a task's run, so no person is present."""
        return LinkPrompts(self, tenant_id, turn_id, conversation_id, in_run)


@dataclass(frozen=True, slots=True)
class LinkPrompts:
    """Asks a person, in a turn. In a task's run, nobody is there: a request made once is not repeated."""

    asker: LinkAsker
    tenant_id: str
    turn_id: str
    conversation_id: str | None
    in_run: bool = False

    async def prompt(self, wanted: MissingAccess) -> Prompt | None:
        """Return the prompt for an account; None if no account can be connected."""
        asked = await ask_for(self.asker.links, self.tenant_id, self.conversation_id, wanted)
        if asked is None:
            return None
        first = await note_prompt(self.asker.database, self.tenant_id, wanted, self.turn_id)
        return Prompt(asked, silent=self.in_run and not first)


async def ask_for(
    links: ConnectLinks, tenant_id: str, conversation_id: str | None, wanted: MissingAccess
) -> str | None:
    """Return the request for the missing access, with a link for each account; None if a link is missing."""
    made = list[tuple[MissingAccess, ConnectLink]]()
    for part in await links.parts(tenant_id, wanted):
        link = await links.link(tenant_id, conversation_id, part)
        if link is None:
            return None
        made.append((part, link))
    return sentence(*made[0]) if len(made) == 1 else _several(made)


def sentence(wanted: MissingAccess, link: ConnectLink) -> str:
    """Return the sentence that asks for the missing access, and the word for a new link once this link is over."""
    later = gettext(
        "The link works for {minutes} minutes. For a new one, write: {word}",
        minutes=int(VALID.total_seconds() // 60),
        word=WORD,
    )
    return f"{_asked(wanted, link.account, _shown(link))}\n{later}"


def _several(made: Sequence[tuple[MissingAccess, ConnectLink]]) -> str:
    """Return the sentence that asks for several accounts, with a line for each."""
    names = [_named(part, link.account) for part, link in made]
    lines = [f"{name}: {_shown(link)}" for name, (_, link) in zip(names, made, strict=True)]
    later = gettext(
        "The links work for {minutes} minutes. For a new one, write: {word}",
        minutes=int(VALID.total_seconds() // 60),
        word=WORD,
    )
    asks = gettext("For that I need several accounts ({accounts}). Connect each of them here:", accounts=listed(names))
    return "\n".join([asks, *lines, later])


def _named(wanted: MissingAccess, account: Account | None) -> str:
    """Return the name of the connection, in a word or two: the kinds of things in the account, or its service."""
    needs = [read_need(need) for need in wanted.needs]
    kinds = [*kinds_of(ability for _, ability in needs if ability is not None)]
    name = listed([*kinds, *dict.fromkeys(service for service, ability in needs if ability is None)])
    return name if account is None else gettext("{account} ({service})", account=account_name(account), service=name)


def _shown(link: ConnectLink) -> str:
    if len(link.choices) < 2:
        return link.url
    return gettext("{link} ({choices})", link=link.url, choices=listed(link.choices, "or"))


def _asked(wanted: MissingAccess, account: Account | None, url: str) -> str:
    if account is not None and account.revoked:
        return gettext(_RENEW, account=account_name(account), link=url)
    service, ability = read_need(wanted.needs[0])
    if ability is None:
        return gettext("For that I need your {service} account: connect it here: {link}", service=service, link=url)
    if account is not None:
        return gettext(_EXTEND[ability], account=account_name(account), link=url)
    return gettext(_CONNECT[ability], link=url)


async def note_prompt(database: Database, tenant_id: str, wanted: MissingAccess, turn_id: str) -> bool:
    """Note a request to a person for an account. Return False if another turn made it before, and nothing changed."""
    account = wanted.account
    if account is not None and account.revoked:
        row = await database.one(
            "select note_renewal($1,$2,$3,$4) as first", tenant_id, account.service, account.name, turn_id
        )
    else:
        topic = " ".join(wanted.needs)
        row = await database.one("select note_account_prompt($1,$2,$3) as first", tenant_id, topic, turn_id)
    return bool(row["first"])
