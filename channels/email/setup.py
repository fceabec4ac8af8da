"""The mail server's side of the channel, as `doctor` sees it: login, proof of senders, and who reads."""

from collections import Counter
from email.parser import BytesParser

from channels.email.headers import values
from channels.email.parse import Account
from channels.email.verify import read_results
from channels.poll_lease import PollLease, check_lease
from core.messaging.channels import Check
from providers.email.client import MailboxClient
from providers.email.types import MailFailed, MailFailure

LOOKED_AT = 20
"""Number of the newest mails whose signers are counted."""
_HEADERS = 48 * 1024
FIXES = {
    MailFailure.LOGIN: "correct SMTP_USER and SMTP_PASSWORD (an app password, if any), or ONEVALET_MAIL_IMAP_URL",
    MailFailure.WRONG: "write ONEVALET_MAIL_IMAP_URL as imaps://mail.example.org",
}


async def check_mailbox(client: MailboxClient, account: Account, lease: PollLease | None) -> tuple[Check, ...]:
    """Check the login, the server's results, and that a process reads; never raises."""
    try:
        signers = await read_signers(client)
    except MailFailed as error:
        fix = FIXES.get(error.failure, "correct ONEVALET_MAIL_IMAP_URL, or see whether the server is away")
        return (Check.failed("mailbox", error, f"{account.address}: {error.failure.value}", fix),)
    opened = Check("mailbox", ok=True, detail=account.address)
    fix = "see whether the server can be reached, and the login is right"
    reading = await check_lease(lease, "mailbox reading", does="reads", fix=fix)
    return (opened, _check_results(signers, account), reading)


async def read_signers(client: MailboxClient) -> Counter[str]:
    """Return the servers that report on the newest mails' senders, with their counts. Raises `MailFailed`."""
    signers: Counter[str] = Counter()
    async with client.open() as mailbox:
        last = await mailbox.last_uid()
        for mail in await mailbox.beginnings(range(max(1, last - LOOKED_AT + 1), last + 1), _HEADERS):
            message = BytesParser().parsebytes(mail.data, headersonly=True)
            read = [found for found in map(read_results, values(message, "Authentication-Results")) if found]
            signers.update({found[0] for found in read[:1]})
    return signers


def _check_results(signers: Counter[str], account: Account) -> Check:
    """Check whether the receiving server vouches for senders, without which no sender is admitted."""
    wanted = account.authserv_id.lower()
    if signers[wanted]:
        return Check("mail senders", ok=True, detail=f"{wanted} says who proved their domain")
    if not signers:
        return Check("mail senders", ok=True, detail="no mail yet that shows who vouches for its sender")
    found = ", ".join(name for name, _ in signers.most_common(3))
    fix = (
        "if one of them is your own receiving server, set ONEVALET_MAIL_AUTHSERV_ID to it; until then all are strangers"
    )
    return Check("mail senders", ok=False, detail=f"no results of {wanted}; there are those of {found}", fix=fix)
