"""A person's mailbox while it is open: folders, messages, flags.

Folders are opened by EXAMINE and messages fetched by BODY.PEEK, which change nothing, unless a change is wanted.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from core.credentials.types import OpenAccount
from core.http.types import HttpClient
from core.language.catalogue import gettext
from providers.email.imap import MAX_MESSAGE, ImapConnection, open_connection, search
from providers.email.imap_answers import (
    criteria_of,
    folder_argument,
    folder_number,
    listed_folder,
    moment_argument,
    numbers_in,
    response_code,
    set_of,
    stored_mail,
)
from providers.email.imap_wire import ImapRefused, ImapWire
from providers.email.types import FolderUse, MailFailed, MailFailure, MailFolder, MailQuery, StoredMail

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
    """A mailbox. Its methods raise `MailFailed`. `connection.call` gives other commands."""

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
        await self.connection.call(lambda wire: wire.command(b"CREATE " + folder_argument(name)))
        self._folders = None

    async def open_folder(self, folder: str, *, change: bool = False) -> int:
        """Open a folder, for reading only unless it is to be changed; return its UIDVALIDITY."""
        if self._open != (folder, change):
            self._open = None
            self._validity = await self.connection.call(lambda wire: _select(wire, folder, change=change))
            self._open = (folder, change)
        return self._validity

    async def search(self, folder: str, query: MailQuery) -> Sequence[int]:
        """Return the UIDs of the messages that fit, the oldest first."""
        criteria = criteria_of(query).encode()
        await self.open_folder(folder)
        return await self.found(criteria if criteria.isascii() else b"CHARSET UTF-8 " + criteria)

    async def found(self, criteria: bytes) -> Sequence[int]:
        """Return the UIDs that a search of the open folder finds."""
        return await self.connection.call(lambda wire: search(wire, criteria))

    async def fetch(self, folder: str, uids: Sequence[int], max_bytes: int = MAX_MESSAGE) -> Sequence[StoredMail]:
        """Return the first bytes of messages, in the order of their numbers; deleted messages are left out."""
        if not uids:
            return []
        validity = await self.open_folder(folder)
        parts = b"(UID FLAGS RFC822.SIZE INTERNALDATE BODY.PEEK[]<0.%d>)" % max_bytes
        answered = await self.connection.call(
            lambda wire: wire.gather(
                lambda answer: stored_mail(answer, validity, max_bytes), b"UID FETCH %b %b" % (set_of(uids), parts)
            )
        )
        found = {mail.uid: mail for mail in answered}
        return [found[uid] for uid in uids if uid in found]

    async def flag(self, folder: str, uids: Sequence[int], flag: str, *, on: bool) -> None:
        """Set or remove a flag, such as `\\Seen`."""
        await self.open_folder(folder, change=True)
        await self.connection.call(lambda wire: _store(wire, uids, flag, "+" if on else "-"))

    async def move(self, folder: str, uids: Sequence[int], target: str) -> Sequence[int]:
        """Move messages to another folder; return their UIDs there if the server reports them."""
        await self.open_folder(folder, change=True)
        can_move = "MOVE" in self.connection.capabilities
        command = b"UID %b %b " % (b"MOVE" if can_move else b"COPY", set_of(uids))
        told = await self.connection.call(lambda wire: wire.gather(response_code, command + folder_argument(target)))
        if not can_move:
            await self.delete(folder, uids)
        words = dict(told).get("COPYUID", "").split()
        return numbers_in(words[2], len(uids)) if len(words) == 3 else ()

    async def delete(self, folder: str, uids: Sequence[int]) -> None:
        """Delete messages for good; if the server has no UIDPLUS, mark them as deleted."""
        await self.open_folder(folder, change=True)
        await self.connection.call(lambda wire: _store(wire, uids, "\\Deleted", "+"))
        # Without UIDPLUS the whole folder would be expunged, and with it mails that other programs marked as deleted.
        if "UIDPLUS" in self.connection.capabilities:
            await self.connection.call(lambda wire: wire.command(b"UID EXPUNGE " + set_of(uids)))

    async def append(self, folder: str, message: bytes, flags: Sequence[str], date: datetime) -> int | None:
        """Store a message; return its UID if the server reports it."""
        told = await self.connection.call(
            lambda wire: wire.gather(
                response_code,
                b"APPEND %b (%b) %b {%d}"
                % (folder_argument(folder), " ".join(flags).encode(), moment_argument(date), len(message)),
                message,
            )
        )
        words = dict(told).get("APPENDUID", "").split()
        return next(iter(numbers_in(words[1], 1)), None) if len(words) == 2 else None


@asynccontextmanager
async def open_mailbox(account: OpenAccount, http: HttpClient) -> AsyncIterator[Mailbox]:
    """Yield an account's mailbox, logged in. Raises `MailFailed`."""
    async with open_connection(account, http) as connection:
        yield Mailbox(connection)


async def _list_folders(wire: ImapWire) -> tuple[MailFolder, ...]:
    listed: list[MailFolder] = []
    for name, flags in (await wire.gather(listed_folder, b'LIST "" "*"'))[:MAX_FOLDERS]:
        if "\\noselect" in flags or "\\nonexistent" in flags or not name.isprintable():
            continue
        use = FolderUse.INBOX if name.upper() == "INBOX" else None
        listed.append(MailFolder(name, use or next((_USES[flag] for flag in flags if flag in _USES), None)))
    return tuple(listed)


async def _select(wire: ImapWire, folder: str, *, change: bool) -> int:
    command = (b"SELECT " if change else b"EXAMINE ") + folder_argument(folder)
    try:
        return dict(await wire.gather(folder_number, command)).get("UIDVALIDITY", 0)
    except ImapRefused:
        raise MailFailed(gettext("There is no such mail folder."), MailFailure.GONE) from None


async def _store(wire: ImapWire, uids: Sequence[int], flag: str, sign: str) -> None:
    await wire.command(b"UID STORE %b %bFLAGS.SILENT (%b)" % (set_of(uids), sign.encode(), flag.encode()))


def _last(name: str) -> str:
    return re.split(r"[/.]", name)[-1]
