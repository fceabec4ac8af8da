"""The assistant's own mailbox over IMAP, opened for reading only: it stays as its operator would find it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import urlsplit

from core.credentials.types import Account, OpenAccount
from core.http.guarded_client import GuardedClient
from providers.email.imap_answers import UIDNEXT, number_after
from providers.email.mailbox import Mailbox, open_mailbox
from providers.email.types import FolderUse, MailQuery, StoredMail
from providers.email.wire import CHANNEL

INBOX = "INBOX"
IMAP_PORTS = {"imaps": 993}


@dataclass(frozen=True, slots=True)
class MailboxLogin:
    """The login of the mailbox. `url`: imaps://host, imap+starttls://host, or for this machine imap://host."""

    address: str
    url: str
    user: str
    password: str = field(repr=False)

    def account(self) -> OpenAccount:
        account = Account(CHANNEL, "the assistant's own", self.address)
        return OpenAccount(account, self.user, self.password, servers={"imap": self.url})


class MailboxClient:
    """Open the mailbox. The operator names its server, which may be in their own network."""

    def __init__(self, login: MailboxLogin) -> None:
        self.address = login.address
        self._login = login
        parts = urlsplit(login.url)
        self._http = GuardedClient(
            allowed_hosts=[f"{parts.hostname}:{parts.port or IMAP_PORTS.get(parts.scheme, 143)}"]
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator["OwnMailbox"]:
        """Yield the mailbox, logged in. Raises `MailFailed`, as do its methods."""
        async with open_mailbox(self._login.account(), self._http) as box:
            yield OwnMailbox(box, await box.open_folder(INBOX))

    async def close(self) -> None:
        await self._http.close()


@dataclass(frozen=True, slots=True)
class OwnMailbox:
    """The mailbox while it is open."""

    box: Mailbox
    uid_validity: int

    async def last_uid(self) -> int:
        """Return the UID of the newest mail there ever was; 0 if there was none."""
        told = await self.box.connection.call(
            lambda wire: wire.gather(
                lambda answer: number_after(UIDNEXT, answer.text) or None, b"STATUS INBOX (UIDNEXT)"
            )
        )
        return (told or [1])[-1] - 1

    async def after(self, uid: int) -> Sequence[int]:
        """Return the UIDs of later mails, the oldest first."""
        # n:* is at least the last mail, even if that is before n (RFC 9051 section 9, seq-range).
        return sorted(number for number in await self.box.found(b"UID %d:*" % (uid + 1)) if number > uid)

    async def since(self, day: date) -> Sequence[int]:
        """Return the UIDs of the mails of a day and later."""
        return sorted(await self.box.search(INBOX, MailQuery(since=day)))

    async def beginnings(self, uids: Sequence[int], max_bytes: int) -> Sequence[StoredMail]:
        """Return the first bytes of each mail."""
        return await self.box.fetch(INBOX, uids, max_bytes)

    async def whole(self, uid: int) -> StoredMail | None:
        """Return a whole mail; None if it is gone."""
        return next(iter(await self.box.fetch(INBOX, [uid])), None)

    async def wait(self, seconds: float) -> bool:
        """Wait until the server reports a change or the time is over; return False at once if it cannot (IDLE)."""
        if "IDLE" not in self.box.connection.capabilities:
            return False
        await self.box.connection.call(lambda wire: wire.idle(seconds))
        return True

    async def is_sent(self, id: str) -> bool:
        """Return whether a mail with this Message-ID is in Sent, where most servers store our mail."""
        sent = await self.box.folder_for(FolderUse.SENT)
        return bool(sent and await self.box.search(sent, MailQuery(message_id=id)))
