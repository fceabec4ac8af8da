"""An email sent once, even if a process or a connection dies on the way.

Each sending is recorded before it leaves, and again after its acceptance. If the answer was lost, the mail is looked up
by its Message-ID, which is the same for the same call, before anything is sent again.
"""

import asyncio
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import urlsplit

from onevalet import (
    FolderUse,
    Mailbox,
    MailFailed,
    MailQuery,
    OpenAccount,
    OutgoingMail,
    SmtpFailed,
    SmtpFailure,
    ToolExecutionContext,
    ToolFailed,
    as_mailed,
    compose,
    gettext,
    open_mailbox,
    open_sending,
)

FILES_SENT = ("gmail.com", "googlemail.com", "office365.com", "outlook.com")
"""Providers whose servers store sent mail by themselves."""
COLLECTION = "sent_mail"
_REMEMBERED = timedelta(days=7)
_LOOKS = (0.0, 2.0, 5.0)
"""Seconds to wait before each look for a sent mail: servers take a moment to store it."""


class _Stage(StrEnum):
    LEAVING = "leaving"
    """It may have been accepted."""
    SENT = "sent"
    FILED = "filed"
    """A copy is among the sent mail, or need not be."""


async def send_once(
    context: ToolExecutionContext, account: OpenAccount, mail: OutgoingMail, recipients: list[str]
) -> None:
    """Send a message to all its recipients or to none. Raises `ToolFailed` if it was not sent, or may not have been."""
    stage = await _stage(context)
    if stage is _Stage.FILED:
        return
    raw = compose(mail)
    if stage is None or (stage is _Stage.LEAVING and not await _was_sent(context, account, mail)):
        await _send(context, account, mail, raw, recipients)
    if stage is not _Stage.SENT:
        await _note(context, _Stage.SENT)
    await _file(context, account, mail, raw)
    await _note(context, _Stage.FILED)
    await _forget_old(context)


async def may_be_sent(context: ToolExecutionContext) -> bool:
    """Return whether a call's message is on its way, or may be."""
    try:
        return await _stage(context) is not None
    except ToolFailed:  # this assistant keeps nothing, so it has sent nothing
        return False


async def _send(
    context: ToolExecutionContext, account: OpenAccount, mail: OutgoingMail, raw: bytes, recipients: list[str]
) -> None:
    try:
        async with open_sending(account, context.http) as submission:
            await submission.address(as_mailed(mail.sender.address), recipients)
            await _note(context, _Stage.LEAVING)
            await submission.send(raw)
    except MailFailed as error:
        raise ToolFailed(gettext("Nothing was sent. {reason}", reason=str(error))) from error
    except SmtpFailed as error:
        if error.failure is SmtpFailure.LOST:
            if await _was_sent(context, account, mail):
                return
            raise _unknown(account) from error
        await context.storage.delete(COLLECTION, context.idempotency_key)
        raise ToolFailed(_why_not(error, account.host_of("smtp")), refused=error.refused) from error


async def _was_sent(context: ToolExecutionContext, account: OpenAccount, mail: OutgoingMail) -> bool:
    """Look for a mail that may have been sent; raise if the result proves nothing."""
    if "imap" in account.servers:
        for pause in _LOOKS if _files_by_itself(account) else _LOOKS[:1]:
            await asyncio.sleep(pause)
            async with open_mailbox(account, context.http) as box:
                if await _find(box, mail):
                    return True
        if _files_by_itself(account):
            return False
    raise _unknown(account)


async def _find(box: Mailbox, mail: OutgoingMail) -> bool:
    """Return whether the message is among the sent mail, or in the provider's folder of all mail."""
    for use in (FolderUse.SENT, FolderUse.ALL):
        folder = await box.folder_for(use)
        if folder and await box.search(folder, MailQuery(message_id=mail.message_id)):
            return True
    return False


async def _file(context: ToolExecutionContext, account: OpenAccount, mail: OutgoingMail, raw: bytes) -> None:
    """Store a copy among the sent mail if the provider does not; a failure of that is no failure of the email."""
    if "imap" not in account.servers or _files_by_itself(account):
        return
    try:
        async with open_mailbox(account, context.http) as box:
            folder = await box.folder_for(FolderUse.SENT)
            if folder and not await box.search(folder, MailQuery(message_id=mail.message_id)):
                await box.append(folder, raw, ["\\Seen"], context.clock.now())
    except MailFailed as error:
        context.log.warning("sent_mail_not_filed", cause=error.failure.value)


def _files_by_itself(account: OpenAccount) -> bool:
    host = urlsplit(account.servers.get("smtp", "")).hostname or ""
    return any(host == name or host.endswith(f".{name}") for name in FILES_SENT)


async def _stage(context: ToolExecutionContext) -> _Stage | None:
    kept = await context.storage.get(COLLECTION, context.idempotency_key)
    return _Stage(str(kept.value["stage"])) if kept and isinstance(kept.value, dict) else None


async def _note(context: ToolExecutionContext, stage: _Stage) -> None:
    """Write down how far it is; committed when this returns."""
    value = {"stage": stage.value, "at": context.clock.now().isoformat()}
    await context.storage.put(COLLECTION, context.idempotency_key, dict(value))


async def _forget_old(context: ToolExecutionContext) -> None:
    for kept in await context.storage.list(COLLECTION):
        at = kept.value.get("at") if isinstance(kept.value, dict) else None
        if isinstance(at, str) and datetime.fromisoformat(at) < context.clock.now() - _REMEMBERED:
            await context.storage.delete(COLLECTION, kept.key)


def _unknown(account: OpenAccount) -> ToolFailed:
    return ToolFailed(
        gettext(
            "It is unknown whether the email was sent: the answer of {host} was lost. I will not send it again.",
            host=account.host_of("smtp"),
        ),
        note="Do not send it again by yourself. The person may look among their sent mail, or ask the recipient.",
    )


def _why_not(error: SmtpFailed, host: str) -> str:
    match error.failure:
        case SmtpFailure.MESSAGE:
            return gettext("Nothing was sent: {host} refuses the email ({code}).", host=host, code=error.code)
        case SmtpFailure.LOGIN:
            reason = gettext("{host} does not accept the stored user and password", host=host)
        case SmtpFailure.RECIPIENT:
            reason = gettext("{host} refuses {address}", host=host, address=error.recipient)
        case SmtpFailure.SENDER:
            reason = gettext("{host} refuses this sender ({code})", host=host, code=error.code)
        case SmtpFailure.TIMEOUT:
            reason = gettext("{host} gave no answer in time", host=host)
        case _:
            reason = gettext("no secure connection to {host} could be made", host=host)
    return gettext("Nothing was sent: {reason}.", reason=reason)
