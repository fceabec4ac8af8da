"""What a new task on events would have told last: the events of a source, the newest mail of a mailbox."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol
from zoneinfo import ZoneInfo

from abilities.events.source_types import MAIL, MAIL_RECEIVED
from abilities.events.types import Event
from abilities.tasks.kinds.event import EventTrigger, is_about_mail
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.known_sources import read_sources
from abilities.tasks.store import TaskStore
from abilities.tasks.trials import last_event
from core.clock import zone_or_utc
from core.credentials.types import Ability, Account
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.language.catalogue import gettext
from core.language.times import moment_in_words
from core.mail.idle import open_mailbox
from core.mail.imap_wire import ImapError, ImapRefused
from core.mail.messages import read_messages
from core.mail.new_mail import data_of
from core.tools.person_access import AccountAccess

LOOKED_AT = 30
"""The newest mails of each mailbox that are looked at."""
BEGINNING = 16 * 1024
"""Bytes of each."""
SECONDS = 12.0
"""For one mailbox."""


class Trying(Protocol):
    """What a trial needs of everybody's tasks."""

    store: TaskStore

    async def in_thread[Result](self, work: Callable[[], Result]) -> Result:
        """Evaluate what people wrote in a thread of its own."""
        ...


type Matches = Callable[[Event], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class _Found:
    came: datetime
    sender: str
    subject: str


async def try_event(tasks: Trying, tenant_id: str, trigger: EventTrigger, mail: "MailTrial | None") -> str:
    """Return what a task would have told last, in words; raises `TriggerError` where nothing could ever come.

    `mail` looks into the person's mailboxes, where there can be any. Raises `AccountMissing` for a task on new mail
    of a person without a mailbox.
    """
    if mail is not None and is_about_mail(trigger):
        zone = zone_or_utc((await tasks.store.person(tenant_id))[0])
        return await mail.last_match(tenant_id, lambda event: tasks.in_thread(partial(trigger.matches, event)), zone)
    known = await read_sources(tasks.store.database, tenant_id)
    connected = mail is not None and await mail.is_connected(tenant_id)
    return last_event(trigger, known.with_mail() if connected else known)


@dataclass(frozen=True, slots=True)
class MailTrial:
    """Look into a person's mailboxes; `accounts` has their accounts by their tenant."""

    accounts: Callable[[str], AccountAccess]
    http: HttpClient

    async def is_connected(self, tenant_id: str) -> bool:
        """Return whether a person has a mailbox that can be watched."""
        return bool(await self.accounts(tenant_id).list(Ability.MAIL_READ))

    async def last_match(self, tenant_id: str, matches: Matches, zone: ZoneInfo) -> str:
        """Return the newest mail that matches, in words, or that none does.

        Raises `AccountMissing` where no mailbox is connected, and `TriggerError` where none can be read.
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
            raise TriggerError(gettext("I tried it, and it does not work: {error}", error=failures[0])) from failures[0]
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
        """Return the newest mail of a mailbox that matches, if one of the last does."""
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
