"""Mail read: searched, opened alone or with its thread, and the files in it kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from abilities.mail.group import GROUP
from abilities.mail.opening import READ, accounts_for, mailbox_of, message_at, size_in_words, stored
from abilities.mail.origins import note_origin
from onevalet import (
    Account,
    FolderUse,
    Mailbox,
    MailFailed,
    MailMessage,
    MailQuery,
    MailRef,
    StoredMail,
    ToolExecutionContext,
    ToolRetry,
    open_mailbox,
    read_message,
    read_messages,
    take_file,
    tool,
)

MAX_FOUND = 25
PART = 10_000
"""Characters of a text that a call returns."""
_BEGINNING = 24 * 1024
"""Bytes of a message by which it is listed."""
_SHOWN = 240
_MAX_THREAD = 20
_THREAD_BYTES = 128 * 1024
_THREAD_TEXT = 2500
_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Found:
    """A message in its place, as stored and as read."""

    ref: MailRef
    stored: StoredMail
    message: MailMessage

    @property
    def moment(self) -> datetime:
        return self.stored.received or self.message.date or _OLDEST


class SearchFor(BaseModel):
    """The conditions that a search sets on mail; omitted fields match anything."""

    sender: Annotated[str, Field(description="A part of the sender's name or address")] = ""
    recipient: Annotated[str, Field(description="A part of a recipient's name or address")] = ""
    subject: Annotated[str, Field(description="Words of the subject, as they stand there")] = ""
    text: Annotated[str, Field(description="Words anywhere in the mail, as they stand there")] = ""
    since: Annotated[date | None, Field(description="The first day")] = None
    before: Annotated[date | None, Field(description="The day after the last")] = None
    unread: Annotated[bool, Field(description="Only what was not read yet")] = False

    @property
    def query(self) -> MailQuery:
        return MailQuery(
            self.sender, self.recipient, self.subject, self.text, self.since, self.before, self.unread or None
        )


@tool(name="search_mail", effect="read", outside=True, group=GROUP, timeout=90)
async def search_mail(
    context: ToolExecutionContext,
    find: SearchFor | None = None,
    folder: str = "",
    account: str | None = None,
    limit: int = 10,
) -> str:
    """List the person's mail, the newest first, each with its id; without any condition, the inbox.

    Args:
        find: The conditions to match.
        folder: A folder's name, or sent, drafts, archive, junk, trash or all; the inbox where it is left out.
        account: The account's name; all where it is left out.
        limit: How many, up to 25.
    """
    query = (find or SearchFor()).query
    limit = max(1, min(limit, MAX_FOUND))
    notes: list[str] = []
    found: list[_Found] = []
    accounts = await accounts_for(context, READ, account or "")
    for one in accounts:
        try:
            count, mails = await _search(context, one, folder, query, limit)
        except MailFailed as error:
            if len(accounts) == 1:
                raise
            notes.append(f"{one.address or one.name}: {error}")
            continue
        notes.append(f"{one.address or one.name}: {count} found")
        found += mails
    found.sort(key=lambda mail: mail.moment, reverse=True)
    entries = [_listed(mail, context.timezone) for mail in found[:limit]]
    return "\n\n".join(["; ".join(notes), *entries])


@tool(name="read_mail", effect="read", outside=True, group=GROUP, timeout=90)
async def read_mail(id: str, context: ToolExecutionContext, part: int = 1, thread: bool = False) -> str:
    """Read one mail whole, or its whole thread. It stays unread.

    Args:
        id: The mail's id, such as mail/email/primary/INBOX/17/42.
        part: Which part of a long mail, from 1.
        thread: Read the earlier and later mail of its thread as well.
    """
    ref = MailRef.parse(id)
    if thread:
        return await _thread(context, ref)
    message, _ = await message_at(context, ref)
    lines = [f"id: {ref}", *_head(message, context.timezone)]
    parts = [message.text[at : at + PART] for at in range(0, len(message.text), PART)] or ["(It has no text.)"]
    if not 1 <= part <= len(parts):
        raise ToolRetry(f"The mail has {len(parts)} parts; ask for one from 1.")
    if len(parts) > 1:
        lines.append(f"This is part {part} of {len(parts)}.")
    return "\n".join([*lines, "", parts[part - 1]])


@tool(name="save_mail_file", effect="read", outside=True, group=GROUP, timeout=120)
async def save_mail_file(id: str, file: int, context: ToolExecutionContext) -> str:
    """Keep a file of a mail as one of the person's files, which read_file then reads and send_file sends.

    Args:
        id: The mail's id.
        file: The file's number in the mail, from 1.
    """
    ref = MailRef.parse(id)
    async with mailbox_of(context, READ, ref) as box:
        raw = (await stored(box, ref)).data
    taken = await take_file(raw, file)
    kept = await context.files.keep(taken.name, taken.data, taken.content_type)
    sender = next(iter((await read_message(raw)).sender), None)
    await note_origin(context, kept.id, ref, sender.address.lower() if sender else "")
    pages = f", {kept.page_count} pages" if kept.page_count else ""
    return f"{kept.id}: {kept.name}, {kept.kind.value}{pages}, {size_in_words(kept.kept_size)}. read_file reads it."


async def _search(
    context: ToolExecutionContext, account: Account, folder: str, query: MailQuery, limit: int
) -> tuple[int, list[_Found]]:
    opened = await context.accounts.open(f"{account.service}:{READ}", account.name)
    async with open_mailbox(opened, context.http) as box:
        name = await folder_named(box, folder)
        uids = await box.search(name, query)
        mails = await box.fetch(name, list(reversed(uids[-limit:])), _BEGINNING)
    return len(uids), await _read(account, name, mails)


async def _read(account: Account, folder: str, mails: Sequence[StoredMail]) -> list[_Found]:
    messages = await read_messages([mail.data for mail in mails])
    refs = [MailRef(account.service, account.name, folder, mail.validity, mail.uid) for mail in mails]
    return [_Found(*known) for known in zip(refs, mails, messages, strict=True)]


async def folder_named(box: Mailbox, folder: str) -> str:
    """Return the folder that is meant: by its use, or by its name. Raises `ToolRetry` with those there are."""
    wanted = folder.strip().casefold()
    if not wanted or wanted == "inbox":
        return "INBOX"
    folders = await box.folders()
    named = [known.name for known in folders if known.name.casefold() == wanted]
    if wanted in tuple(FolderUse) and (used := await box.folder_for(FolderUse(wanted))):
        return used
    if not named:
        raise ToolRetry(f"There is no such folder. There are: {', '.join(known.name for known in folders[:60])}.")
    return named[0]


def _listed(found: _Found, zone: str) -> str:
    message, lines = found.message, [f"id: {found.ref}"]
    if not message.readable:
        lines.append("This mail is made so that it cannot be read.")
    lines += _head(message, zone, received=found.stored.received, whole=found.stored.whole)
    marks = [name for name, on in (("unread", found.stored.unread), ("flagged", found.stored.flagged)) if on]
    if marks:
        lines.append(f"Marks: {', '.join(marks)}")
    text = " ".join(message.text.split())
    if text:
        lines.append(f"Begins: {text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}")
    return "\n".join(lines)


def _head(message: MailMessage, zone: str, *, received: datetime | None = None, whole: bool = True) -> list[str]:
    moment = message.date or received
    known = {
        "From": ", ".join(map(str, message.sender)),
        "Answers go to": ", ".join(map(str, message.reply_to if message.reply_to != message.sender else ())),
        "To": ", ".join(map(str, message.to[:20])),
        "Copies": ", ".join(map(str, message.cc[:20])),
        "Subject": message.subject or "(none)",
        "Date": f"{moment.astimezone(ZoneInfo(zone)):%A %Y-%m-%d %H:%M}" if moment else "",
    }
    lines = [f"{name}: {value}" for name, value in known.items() if value]
    if message.attachments and whole:
        files = (f"{file.number}. {file.name} ({size_in_words(file.size)})" for file in message.attachments[:30])
        lines.append(f"Files: {'; '.join(files)}")
    elif message.attachments:
        lines.append("It has files.")
    return lines


async def _thread(context: ToolExecutionContext, ref: MailRef) -> str:
    """Return the messages of a thread, the oldest first, each without the quote at its end."""
    account = await context.accounts.open(f"{ref.service}:{READ}", ref.account)
    found: dict[str, _Found] = {}
    async with mailbox_of(context, READ, ref) as box:
        first = await read_message((await stored(box, ref, _THREAD_BYTES)).data)
        root = next(iter(first.references), first.message_id)
        folders = [ref.folder, "INBOX", *[await box.folder_for(use) for use in (FolderUse.SENT, FolderUse.ARCHIVE)]]
        for folder in dict.fromkeys(name for name in folders if name):
            uids: list[int] = [ref.uid] if folder == ref.folder else []
            if root:
                for query in (MailQuery(message_id=root), MailQuery(reference=root)):
                    uids += await box.search(folder, query)
            mails = await box.fetch(folder, sorted(set(uids))[-_MAX_THREAD:], _THREAD_BYTES)
            for mail in await _read(account.account, folder, mails):
                found.setdefault(mail.message.message_id or str(mail.ref), mail)
    thread = sorted(found.values(), key=lambda mail: mail.message.date or mail.moment)[-_MAX_THREAD:]
    texts = [
        "\n".join([f"id: {mail.ref}", *_head(mail.message, context.timezone), "", _own_text(mail.message.text)])
        for mail in thread
    ]
    return "\n\n=====\n\n".join(texts)


def _own_text(text: str) -> str:
    """Return a text without the quote at its end, cut if it is long."""
    lines = text.rstrip().splitlines()
    while lines and (lines[-1].startswith(">") or not lines[-1].strip()):
        lines.pop()
    own = "\n".join(lines) or text
    return own if len(own) <= _THREAD_TEXT else f"{own[:_THREAD_TEXT]}… (read_mail has the rest)"
