"""The choice of an account and a message, and their names for people."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from onevalet import (
    Account,
    Mailbox,
    MailFailed,
    MailFailure,
    MailMessage,
    MailRef,
    OpenAccount,
    StoredMail,
    ToolExecutionContext,
    gettext,
    open_mailbox,
    read_message,
)

READ, CHANGE, SEND = "mail.read", "mail.change", "mail.send"
_MARK = " · "
"""Separates a label for the person from the id."""


async def account_of(context: ToolExecutionContext, need: str, ref: MailRef) -> OpenAccount:
    """Open the account of a message."""
    return await context.accounts.open(f"{ref.service}:{need}", ref.account)


async def accounts_for(context: ToolExecutionContext, need: str, named: str) -> Sequence[Account]:
    """Return the named account, or all that have the access. Raises `AccountMissing` if there is none."""
    if named:
        return [(await context.accounts.open(need, named)).account]
    found = await context.accounts.list(need)
    return found or [(await context.accounts.open(need)).account]


@asynccontextmanager
async def mailbox_of(context: ToolExecutionContext, need: str, ref: MailRef) -> AsyncIterator[Mailbox]:
    """Yield the mailbox of a message; raises `MailFailed` if its folder was recreated."""
    async with open_mailbox(await account_of(context, need, ref), context.http) as box:
        if await box.open_folder(ref.folder, change=need == CHANGE) != ref.validity:
            raise gone()
        yield box


async def stored(box: Mailbox, ref: MailRef, max_bytes: int | None = None) -> StoredMail:
    """Return a message, whole or its first bytes. Raises `MailFailed`."""
    found = await (box.fetch(ref.folder, [ref.uid], max_bytes) if max_bytes else box.fetch(ref.folder, [ref.uid]))
    if not found:
        raise gone()
    if not max_bytes and not found[0].whole:
        raise MailFailed(gettext("That mail is too large to be read."), MailFailure.TOO_LARGE)
    return found[0]


async def message_at(context: ToolExecutionContext, ref: MailRef) -> tuple[MailMessage, bytes]:
    """Return a whole message, parsed and in its stored form."""
    async with mailbox_of(context, READ, ref) as box:
        mail = await stored(box, ref)
    return await read_message(mail.data), mail.data


def gone() -> MailFailed:
    """Return the error for a message that is no longer in its place."""
    return MailFailed(
        gettext("That mail is no longer there: it was moved or deleted."),
        MailFailure.GONE,
        note="search_mail finds it where it is now.",
    )


def labelled(label: str, thing_id: str) -> str:
    """Return a thing as cards name it: in words, with the id that is used."""
    words = " ".join(label.replace(_MARK.strip(), "-").split())
    return f"{words[:120]}{_MARK}{thing_id}" if words else thing_id


def id_in(text: str) -> str:
    """Return the id that `labelled` put behind the words; a text without them is the id."""
    return text.rpartition(_MARK)[2].strip()


def in_words(message: MailMessage) -> str:
    """Return a message in words: its sender and subject."""
    sender = str(message.sender[0]) if message.sender else "?"
    return f"{sender}: {message.subject}" if message.subject else sender


def size_in_words(size: int) -> str:
    """Return a file's size."""
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.0f} KB" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f} MB"
