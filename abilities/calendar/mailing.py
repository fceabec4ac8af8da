"""Mail to an event's guests, if the calendar's server does not notify them (iMIP, RFC 6047).

Its recipients and its account are planned with the write, and shown on its card. It is sent after the event is written,
each mail once; a failure leaves the event as it is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from abilities.calendar.calendars import Calendars
from abilities.calendar.letters import GuestMail, Letter
from abilities.calendar.places import CalendarInfo
from abilities.calendar.types import ItipMethod
from abilities.mail.delivery import may_be_sent, send_once
from abilities.mail.sending import sender_of
from onevalet import (
    Ability,
    Account,
    MailCalendar,
    OutgoingMail,
    RefusedLogins,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    as_mailed,
    gettext,
    is_address,
    listed,
    message_id_of,
    ngettext,
)

SEND = Ability.MAIL_SEND.value
CONNECT = "connect email"
"""The command that connects a mailbox; it occurs in the sentence in every language."""


async def guest_mail(
    context: ToolExecutionContext, calendar: CalendarInfo, before: Iterable[str], after: Iterable[str]
) -> GuestMail | None:
    """Return the guests to notify by mail; None if the server notifies them, no account can, or there are no guests.

    Raises `ToolRetry` if the person must choose an account.
    """
    until_now, from_then_on = (
        tuple(dict.fromkeys(address for address in group if address not in calendar.own and is_address(address)))
        for group in (before, after)
    )
    if calendar.schedules or not (until_now or from_then_on):
        return None
    account = await _mailbox(context, calendar)
    if account is None:
        return None
    name, own = f"{account.service}:{account.name}", tuple(sorted(calendar.own))
    return GuestMail(name, account.address, own, until_now, from_then_on)


def invitations(calendar: CalendarInfo, mail: GuestMail | None) -> str:
    """Return a sentence about who notifies an event's guests."""
    if calendar.schedules:
        return gettext("The calendar's server sends the invitations.")
    if mail is not None:
        return by_mail(mail)
    nobody = gettext("The calendar's server sends no invitations: they have to go by email.")
    return f"{nobody} {how_to_connect()}"


def by_mail(mail: GuestMail) -> str:
    """Return a sentence about the sender and the recipients of mail."""
    return gettext(
        "An email goes from {account} to {addresses}.", account=mail.sender, addresses=listed(mail.everybody)
    )


def how_to_connect() -> str:
    """Return a sentence about how to connect an account for sending mail."""
    return gettext("To have me send it, write: {words}", words=CONNECT)


def organizer_of(calendar: CalendarInfo, mail: GuestMail | None) -> str:
    """Return the person's own address, from which invitations are sent. Raises `ToolRetry` without one."""
    if not calendar.own:
        raise ToolRetry(gettext("I do not know your email address at this calendar, so I cannot invite anybody."))
    sender = mail.sender.lower() if mail else ""
    return sender if sender in calendar.own else min(calendar.own)


async def send_letters(
    context: ToolExecutionContext, calendars: Calendars, mail: GuestMail, letters: Sequence[Letter]
) -> tuple[str, bool]:
    """Send the mails; return the sentence for the person, and whether any guest may know of the write now."""
    told, failures, known = set[str](), list[str](), False
    for letter in (one for one in letters if one.message.to):
        # Each mail is a sending of its own, which a repeat of the call does not repeat.
        sending = replace(context, idempotency_key=f"{context.idempotency_key}.{letter.name}")
        try:
            await _send(sending, calendars, mail, letter)
        except (ToolFailed, ToolRetry) as error:
            failures.append(str(error))
            known = known or await may_be_sent(sending)
            await _note_refused(context, error)
        else:
            told |= {*letter.message.to}
    said = []
    if count := len(told):
        said.append(ngettext("{number} person gets an email.", "{number} people get an email.", count))
    if failures:
        reason = " ".join(dict.fromkeys(failures))
        said.append(gettext("Not everybody could be notified by email. {reason}", reason=reason))
    return " ".join(said), known or bool(told)


async def _send(context: ToolExecutionContext, calendars: Calendars, mail: GuestMail, letter: Letter) -> None:
    if letter.text == "":
        raise ToolFailed(gettext("That event is too large to be read."))
    service, _, name = mail.account.partition(":")
    account = await context.accounts.open(f"{service}:{SEND}", name)
    sender = sender_of(account)
    text = await calendars.message(letter.message, letter.place, letter.text or "")
    recipients = [as_mailed(address) for address in letter.message.to]
    invites = letter.message.method is ItipMethod.REQUEST
    outgoing = OutgoingMail(
        sender=sender,
        to=recipients,
        cc=[],
        subject="".join(char for char in letter.subject if char.isprintable())[:500],
        body=f"{mail.body}\n\n{mail.notes}" if invites and mail.notes else mail.body,
        date=context.clock.now(),
        message_id=message_id_of(context.idempotency_key, sender.address),
        calendar=MailCalendar(letter.message.method.value, text),
    )
    await send_once(context, account, outgoing, recipients)


async def _mailbox(context: ToolExecutionContext, calendar: CalendarInfo) -> Account | None:
    """Return the sending account: the calendar's own, else an account with the same address, else the default."""
    able = [account for account in await context.accounts.list(SEND) if not account.revoked]
    for fitting in (
        [account for account in able if f"{account.service}:{account.name}" == calendar.account],
        [account for account in able if account.address.lower() in calendar.own],
        [account for account in able if account.preferred],
        able,
    ):
        if len(fitting) == 1:
            return fitting[0]
    return (await context.accounts.open(SEND)).account if able else None


async def _note_refused(context: ToolExecutionContext, error: ToolFailed | ToolRetry) -> None:
    """Ask for renewal of a login that the mail server refuses, as if the call had failed by it."""
    refused = error.refused if isinstance(error, ToolFailed) else None
    if refused is not None and isinstance(context.accounts, RefusedLogins):
        await context.accounts.refused(refused)
