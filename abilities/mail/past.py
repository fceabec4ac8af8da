"""The newest mail that a task on new mail would have reported, from the mailboxes that it watches."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from abilities.events.past_mail import Matches, PastMail
from abilities.events.source_types import MAIL, MAIL_RECEIVED
from abilities.events.types import Event
from abilities.mail.idle import open_mailbox
from abilities.mail.new_mail import data_of
from core.credentials.types import Ability, Account
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.language.catalogue import gettext
from core.language.times import moment_in_words
from core.tools.person_access import AccountAccess
from onevalet.foundations import OpeningFoundation
from providers.email.imap_wire import ImapError, ImapRefused
from providers.email.messages import read_messages

LOOKED_AT = 30
"""Number of newest mails read of each mailbox."""
BEGINNING = 16 * 1024
"""Bytes of each."""
SECONDS = 12.0
"""For a mailbox."""


@dataclass(frozen=True, slots=True)
class _Found:
    came: datetime
    sender: str
    subject: str


@dataclass(frozen=True, slots=True)
class PastMailboxes:
    """Look into a person's mailboxes; `accounts` has their accounts by their tenant."""

    accounts: Callable[[str], AccountAccess]
    http: HttpClient

    async def is_connected(self, tenant_id: str) -> bool:
        """Return whether a person has a mailbox that can be watched."""
        return bool(await self.accounts(tenant_id).list(Ability.MAIL_READ))

    async def last_match(self, tenant_id: str, matches: Matches, zone: ZoneInfo) -> str:
        """Return the newest matching mail in words, or a sentence that none matches.

        Raises `AccountMissing` if no mailbox is connected, and `ToolFailed` if none can be read.
        """
        access = self.accounts(tenant_id)
        accounts = await access.list(Ability.MAIL_READ)
        if not accounts:
            await access.open(Ability.MAIL_READ)
        found, failures = list[_Found](), list[ToolFailed]()
        for account in accounts:
            try:
                found += await self._newest(access, account, matches)
            except ToolFailed as error:
                failures.append(error)
        if failures and len(failures) == len(accounts):
            raise ToolFailed(str(failures[0])) from failures[0]
        if not found:
            return gettext("none of the last {number} mails is of that kind", number=LOOKED_AT)
        last = max(found, key=lambda mail: mail.came)
        return gettext(
            "the last such mail is “{subject}” from {sender}, {moment}",
            subject=last.subject,
            sender=last.sender,
            moment=moment_in_words(last.came, zone),
        )

    async def _newest(self, access: AccountAccess, account: Account, matches: Matches) -> list[_Found]:
        """Return the newest matching mail among a mailbox's last mails, if any."""
        opened = await access.open(f"{account.service}:{Ability.MAIL_READ}", account.name)
        try:
            async with asyncio.timeout(SECONDS), open_mailbox(opened, self.http) as mailbox:
                arrivals = await mailbox.last(LOOKED_AT)
                fetched = [(arrival, await mailbox.fetch(arrival.uid, BEGINNING)) for arrival in arrivals]
                mails = [(arrival, mail) for arrival, mail in fetched if mail is not None]
                messages = await read_messages([mail.data for _, mail in mails])
        except (ImapError, ImapRefused, TimeoutError) as error:
            raise ToolFailed(gettext("The mailbox {account} gives no answer.", account=account.name)) from error
        for (arrival, mail), message in zip(mails, messages, strict=True):
            data = data_of(account, mail, message)
            if await matches(Event(MAIL, MAIL_RECEIVED, data)):
                return [_Found(arrival.at, str(data["from"]), str(data["subject"]))]
        return []


def open_past_mail(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    """Offer the search in people's mailboxes; `stack` closes its connections."""
    http = foundation.tool_http()
    stack.push_async_callback(http.close)
    foundation.opened.add(PastMail, PastMailboxes(foundation.accounts, http))
