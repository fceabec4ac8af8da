"""The replies to people who ask to connect, list or end accounts."""

from collections.abc import Sequence
from dataclasses import dataclass

from abilities.accounts.kinds import KIND_NAMES, KINDS, may
from abilities.accounts.links import VALID, ConnectLinkStore
from abilities.accounts.prompts import WORD
from abilities.accounts.prompts import ConnectLink as WantedLink
from abilities.accounts.services import Services
from abilities.accounts.types import Service
from core.clock import Clock
from core.credentials.choice import shown
from core.credentials.needs import read_need
from core.credentials.types import Ability, Account
from core.errors import ToolFailed, ToolRetry
from core.language.catalogue import gettext, listed
from core.messaging.visible_text import literal
from core.tools.account_access import MissingAccess


@dataclass(frozen=True, slots=True)
class ConnectOffers:
    """Makes links on request."""

    links: ConnectLinkStore
    services: Services
    clock: Clock

    async def by_turn(
        self,
        tenant_id: str,
        turn_id: str | None,
        service: str,
        account_name: str = "",
        abilities: Sequence[Ability] = (),
    ) -> str:
        """Return the reply to a person who asks in a turn to connect a service; any service if it is empty.

        Raises `ToolRetry` for a service that is not there, and `ToolFailed` if nothing can be connected.
        """
        conversation_id = await self.conversation_of(tenant_id, turn_id)
        return await self.offer(tenant_id, conversation_id, service, account_name, abilities)

    async def conversation_of(self, tenant_id: str, turn_id: str | None) -> str | None:
        """Return the conversation of a turn."""
        row = await self.links.database.tenant_row(
            tenant_id, "select conversation_id from turns where tenant_id = $1 and id = $2", turn_id
        )
        return row["conversation_id"] if row else None

    async def offer(
        self,
        tenant_id: str,
        conversation_id: str | None,
        service: str,
        account_name: str = "",
        abilities: Sequence[Ability] = (),
    ) -> str:
        """Return the reply to a person in a conversation, as `by_turn` does."""
        if not self.services.by_name:
            raise ToolFailed(gettext("Accounts cannot be connected here."))
        known = self.services.get(service.lower())
        if service and known is None:
            raise ToolRetry(
                gettext(
                    "There is no service {service} here, only {services}.",
                    service=literal(service[:40]),
                    services=self.named(),
                )
            )
        if not self.links.public_url:
            raise ToolFailed(
                gettext(
                    "Accounts cannot be connected here yet: whoever runs this assistant has to set PUBLIC_URL first."
                )
            )
        link = await self.links.make(
            tenant_id,
            conversation_id,
            self.clock.now(),
            service=known.name if known else "",
            account_name=account_name,
            abilities=abilities,
        )
        if link is None:
            raise ToolFailed(gettext("You have asked for too many links today; try again tomorrow."))
        minutes = int(VALID.total_seconds() // 60)
        said = (
            gettext(
                "Connect {service} here, within {minutes} minutes: {link}",
                service=gettext(known.label),
                minutes=minutes,
                link=link,
            )
            if known
            else gettext("Connect an account here, within {minutes} minutes: {link}", minutes=minutes, link=link)
        )
        return "\n".join([said, gettext("Open it yourself, and do not pass it on.")])

    async def link(self, tenant_id: str, conversation_id: str | None, wanted: MissingAccess) -> WantedLink | None:
        """Return a link for a call's missing access. Implements `abilities.accounts.prompts.ConnectLinks`."""
        able, abilities = self.able(wanted), _abilities(wanted)
        if not able:
            return None
        url = await self.links.make(
            tenant_id,
            conversation_id,
            self.clock.now(),
            service=able[0].name if len(able) == 1 else "",
            account_name=wanted.account.name if wanted.account else "",
            abilities=sorted(abilities),
        )
        return WantedLink(url, tuple(gettext(service.label) for service in able), wanted.account) if url else None

    def able(self, wanted: MissingAccess) -> Sequence[Service]:
        """Return the services of which a single account can serve all needs."""
        names = {service for service, _ in map(read_need, wanted.needs) if service}
        if wanted.account is not None:
            names.add(wanted.account.service)
        abilities = _abilities(wanted)
        return [
            service
            for service in self.services
            if abilities <= service.offers and (names == {service.name} if names else abilities)
        ]

    def named(self) -> str:
        """Return the names of the services that can be connected here."""
        return listed([service.name for service in self.services])

    def overview(self, accounts: Sequence[Account]) -> str:
        """Return a person's accounts, with the abilities of each, and the words to change them. Markdown."""
        if not self.services.by_name:
            return listing(accounts)
        more = gettext("To connect one, write for example: {words}", words=f"connect {next(iter(self.services)).name}")
        choice = gettext("There is: {services}.", services=self.named())
        if not accounts:
            return "\n".join([listing(accounts), more, choice])
        first = literal(shown(accounts[0]))
        hints = [gettext("To end one, write for example: {words}", words=f"disconnect {first}"), more, choice]
        if any(account.revoked for account in accounts):
            hints.insert(0, gettext("To connect one again, write: {words}", words=WORD))
        if unclear := next((kind for kind in KINDS if _is_unclear(accounts, kind)), ""):
            words = f"use {first} for {unclear}"
            hints.insert(0, gettext("To choose one for good, write for example: {words}", words=words))
        return "\n\n".join([listing(accounts), "\n".join(hints)])


def _abilities(wanted: MissingAccess) -> frozenset[Ability]:
    return frozenset(ability for _, ability in map(read_need, wanted.needs) if ability is not None)


def listing(accounts: Sequence[Account]) -> str:
    """Return a person's accounts, with the abilities and the use of each. Markdown."""
    if not accounts:
        return gettext("Nothing is connected.")
    lines = "\n".join(f"- {_line(account)}" for account in accounts)
    return f"{gettext('Your accounts:')}\n\n{lines}"


def _is_unclear(accounts: Sequence[Account], kind: str) -> bool:
    """Return whether several accounts have a kind of things, and none is its default."""
    able = [account for account in accounts if account.abilities & KINDS[kind]]
    return len(able) > 1 and not any(account.preferred or kind in account.preferred_for for account in able)


def told(service: Service, account: Account) -> str:
    """Return the message to the chat about a new account, as Markdown."""
    name = literal(shown(account))
    whose = literal(account.address) if account.address and account.address != account.name else ""
    able = [gettext("I may now {abilities}.", abilities=listed(may(account.abilities)))] if account.abilities else []
    return "\n".join(
        [
            gettext("Connected: {account} ({service}).", account=name, service=whose or gettext(service.label)),
            *able,
            gettext("If that was not you, or to undo it, write: {words}", words=f"disconnect {name}"),
        ]
    )


def _line(account: Account) -> str:
    name, service = literal(shown(account)), literal(account.service)
    if account.revoked:
        return gettext("{account} ({service}): has to be connected again", account=name, service=service)
    able = listed(may(account.abilities)) if account.abilities else ""
    line = (
        gettext("{account} ({service}): I may {abilities}", account=name, service=service, abilities=able)
        if able
        else gettext("{account} ({service})", account=name, service=service)
    )
    if chosen := [gettext(KIND_NAMES[kind]) for kind in KINDS if kind in account.preferred_for]:
        return gettext("{line}. Used for {kinds} when none is named.", line=line, kinds=listed(chosen))
    return gettext("{line}. Used when none is named.", line=line) if account.preferred else line
