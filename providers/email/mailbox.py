"""A person's mailbox while it is open: folders, messages, flags.

Folders are opened by EXAMINE and messages fetched by BODY.PEEK, which change nothing, unless a change is wanted.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from core.credentials.types import OpenAccount
from core.http.types import HttpClient
from providers.email.imap import MAX_MESSAGE, ImapConnection, expect_ok, folder_argument, open_connection
from providers.email.imap_answers import (
    criteria_of,
    listed_folders,
    numbers_in,
    read_number,
    safe_name,
    set_of,
    stored_mails,
    told,
)
from providers.email.types import FolderUse, MailFolder, MailQuery, StoredMail

if TYPE_CHECKING:
    from imap_tools import BaseMailBox

MAX_FOLDERS = 500

_USES = {f"\\{use.value}": use for use in FolderUse}
_NAMES = {
    FolderUse.SENT: ("Sent", "Sent Items", "Sent Messages", "Gesendet", "Enviados", "Envoyés", "已发送"),
    FolderUse.DRAFTS: ("Drafts", "Draft", "Entwürfe", "Borradores", "Brouillons", "Rascunhos", "草稿箱"),
    FolderUse.TRASH: ("Trash", "Deleted Items", "Deleted Messages", "Papierkorb", "Papelera", "Corbeille", "Lixo"),
    FolderUse.ARCHIVE: ("Archive", "Archives", "Archiv", "Archivo", "Arquivo"),
    FolderUse.JUNK: ("Junk", "Spam", "Junk Email"),
}
"""Usual names of folders, for servers that do not mark their use."""


class Mailbox:
    """A mailbox. Its methods raise `MailFailed`. `connection.call` runs other methods of imap_tools."""

    def __init__(self, connection: ImapConnection) -> None:
        self.connection = connection
        self._open: tuple[str, bool] | None = None
        self._validity = 0
        self._folders: tuple[MailFolder, ...] | None = None

    async def folders(self) -> Sequence[MailFolder]:
        """Return the folders that hold messages."""
        if self._folders is None:
            self._folders = await self.connection.call(_list_folders)
        return self._folders

    async def folder_for(self, use: FolderUse) -> str | None:
        """Return the name of the folder for a use; None if there is none."""
        folders = await self.folders()
        marked = (folder.name for folder in folders if folder.use is use)
        named = (folder.name for name in _NAMES.get(use, ()) for folder in folders if _last(folder.name) == name)
        return next(marked, None) or next(named, None)

    async def create_folder(self, name: str) -> None:
        """Create a folder."""
        await self.connection.call(lambda box: box.folder.create(safe_name(name)))
        self._folders = None

    async def open_folder(self, folder: str, *, change: bool = False) -> int:
        """Open a folder, for reading only unless it is to be changed; return its UIDVALIDITY."""
        if self._open != (folder, change):

            def select(box: "BaseMailBox") -> int:
                box.folder.set(safe_name(folder), readonly=not change)
                return read_number((told(box.client.untagged_responses, "UIDVALIDITY") or ["0"])[0])

            self._open = None
            self._validity = await self.connection.call(select)
            self._open = (folder, change)
        return self._validity

    async def search(self, folder: str, query: MailQuery) -> Sequence[int]:
        """Return the UIDs of the messages that fit, the oldest first."""
        criteria = criteria_of(query)
        charset = None if criteria.isascii() else "UTF-8"
        await self.open_folder(folder)
        return await self.connection.call(lambda box: [read_number(uid) for uid in box.uids(criteria, charset)])

    async def fetch(self, folder: str, uids: Sequence[int], max_bytes: int = MAX_MESSAGE) -> Sequence[StoredMail]:
        """Return messages, of each its first bytes, in the order of their numbers; those that are gone are left out."""
        if not uids:
            return []
        validity = await self.open_folder(folder)
        parts = f"(UID FLAGS RFC822.SIZE INTERNALDATE BODY.PEEK[]<0.{int(max_bytes)}>)"
        numbers = set_of(uids)
        # Read in the thread too: an answer of many lines would hold up all other work.
        answered = await self.connection.call(
            lambda box: stored_mails(expect_ok(box.client.uid("FETCH", numbers, parts)), validity)
        )
        found = {mail.uid: mail for mail in answered}
        return [found[uid] for uid in uids if uid in found]

    async def flag(self, folder: str, uids: Sequence[int], flag: str, *, on: bool) -> None:
        """Set or remove a flag, such as `\\Seen`."""
        await self.open_folder(folder, change=True)
        await self.connection.call(lambda box: _store(box, uids, flag, "+" if on else "-"))

    async def move(self, folder: str, uids: Sequence[int], target: str) -> Sequence[int]:
        """Move messages to another folder; return their UIDs there if the server reports them."""
        await self.open_folder(folder, change=True)
        return await self.connection.call(lambda box: _move(box, uids, safe_name(target)))

    async def delete(self, folder: str, uids: Sequence[int]) -> None:
        """Delete messages for good; if the server has no UIDPLUS, mark them as deleted."""
        await self.open_folder(folder, change=True)
        await self.connection.call(lambda box: _delete(box, uids))

    async def append(self, folder: str, message: bytes, flags: Sequence[str], date: datetime) -> int | None:
        """Store a message; return its UID if the server reports it."""

        def add(box: "BaseMailBox") -> int | None:
            told(box.client.untagged_responses, "APPENDUID")
            box.append(message, safe_name(folder), date, list(flags))
            words = told(box.client.untagged_responses, "APPENDUID")
            return next(iter(numbers_in(words[1], 1)), None) if len(words) == 2 else None

        return await self.connection.call(add)


@asynccontextmanager
async def open_mailbox(account: OpenAccount, http: HttpClient) -> AsyncIterator[Mailbox]:
    """Yield an account's mailbox, logged in. Raises `MailFailed`."""
    async with open_connection(account, http) as connection:
        yield Mailbox(connection)


def _list_folders(box: "BaseMailBox") -> tuple[MailFolder, ...]:
    from imap_tools.imap_utf7 import utf7_decode

    listed: list[MailFolder] = []
    for name, flags in islice(listed_folders(expect_ok(box.client.list('""', '"*"')), utf7_decode), MAX_FOLDERS):
        if "\\noselect" in flags or "\\nonexistent" in flags or not name.isprintable():
            continue
        use = FolderUse.INBOX if name.upper() == "INBOX" else None
        listed.append(MailFolder(name, use or next((_USES[flag] for flag in flags if flag in _USES), None)))
    return tuple(listed)


def _store(box: "BaseMailBox", uids: Sequence[int], flag: str, sign: str) -> list[Any]:
    # imap_tools' own method expunges the folder as well, and with it messages that other programs marked as deleted.
    return expect_ok(box.client.uid("STORE", set_of(uids), f"{sign}FLAGS.SILENT", f"({flag})"))


def _move(box: "BaseMailBox", uids: Sequence[int], target: str) -> Sequence[int]:
    client, can_move = box.client, "MOVE" in box.client.capabilities
    told(client.untagged_responses, "COPYUID")
    expect_ok(client.uid("MOVE" if can_move else "COPY", set_of(uids), folder_argument(target)))
    words = told(client.untagged_responses, "COPYUID")
    if not can_move:
        _delete(box, uids)
    return numbers_in(words[2], len(uids)) if len(words) == 3 else ()


def _delete(box: "BaseMailBox", uids: Sequence[int]) -> None:
    _store(box, uids, "\\Deleted", "+")
    # Without UIDPLUS the whole folder would be expunged.
    if "UIDPLUS" in box.client.capabilities:
        expect_ok(box.client.uid("EXPUNGE", set_of(uids)))


def _last(name: str) -> str:
    return re.split(r"[/.]", name)[-1]
