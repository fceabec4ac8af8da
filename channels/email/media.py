"""Files of mails: read again from the mailbox when a turn takes them in."""

from core.files.kinds import FileFailure
from core.files.types import FileNotFetched, SentFile
from core.messaging.messages import Media
from providers.email.client import MailboxClient, MailboxLogin
from providers.email.messages import take_file
from providers.email.types import MailFailed, MailFailure
from providers.email.wire import read_file_url


class MailMedia:
    """Fetch the files of inbound mails."""

    def __init__(self, login: MailboxLogin) -> None:
        self._client = MailboxClient(login)

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Fetch a file. Raises `FileNotFetched`."""
        place = read_file_url(media.url)
        if place is None:
            raise FileNotFetched(FileFailure.GONE)
        uid_validity, uid, number = place
        try:
            async with self._client.open() as mailbox:
                # Under another UIDVALIDITY the number is another mail's.
                mail = await mailbox.whole(uid) if mailbox.uid_validity == uid_validity else None
        except MailFailed as error:
            gone = error.failure in (MailFailure.GONE, MailFailure.TOO_LARGE)
            raise FileNotFetched(FileFailure.GONE if gone else FileFailure.UNREACHABLE) from error
        if mail is None:
            raise FileNotFetched(FileFailure.GONE)
        try:
            file = await take_file(mail.data, number)
        except MailFailed as error:
            gone = error.failure is MailFailure.GONE
            raise FileNotFetched(FileFailure.GONE if gone else FileFailure.BROKEN) from error
        if len(file.data) > max_bytes:
            raise FileNotFetched(FileFailure.TOO_LARGE)
        return SentFile(media.content_type, file.data)

    async def close(self) -> None:
        await self._client.close()
