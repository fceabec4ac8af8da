"""Send email from a person's own account, over SMTP.

The account is the person's credentials for the service `email` (`docs/agents.md`): host, user, password, from, and port
and tls where they are not the usual ones.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime, parseaddr

import idna
from aiosmtplib import SMTP
from aiosmtplib.errors import SMTPAuthenticationError, SMTPException, SMTPRecipientRefused, SMTPResponseException

from onevalet import (
    AgentResult,
    ApprovalRequest,
    InputField,
    StandardAgent,
    ToolFailed,
    gettext,
    gettext_noop,
    listed,
    ngettext,
    valet,
)

_SERVICE = "email"
_SECONDS = 20.0
_NAMES = (
    gettext_noop("recipient"),
    gettext_noop("cc"),
    gettext_noop("subject"),
    gettext_noop("body"),
    gettext_noop("account"),
    gettext_noop("send email"),
)
"""What cards and questions call the fields and the agent."""
_MAX_RECIPIENTS = 50
# RFC 5321 4.1.2 without quoted local parts, and RFC 1035 names: the addresses that people use.
_ADDRESS = re.compile(
    r"(?=.{6,254}\Z)[\w!#$%&'*+/=?^`{|}~-]{1,64}(?:\.[\w!#$%&'*+/=?^`{|}~-]{1,64}){0,9}"
    r"@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]",
    re.ASCII | re.IGNORECASE,
)
_LOOKS_LIKE_ONE = r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+"
_PLAIN_SUBJECT = re.compile(r"(?=.{0,66}\Z)(?!.*=\?)(?:[!-~]+(?: [!-~]+)*)?")
# Seven bits, which every server on the way can carry.
_POLICY = SMTP_POLICY.clone(cte_type="7bit")


def _are_addresses(given: Sequence[str]) -> str | None:
    if len(given) > _MAX_RECIPIENTS:
        return gettext("these are more than {number} addresses", number=_MAX_RECIPIENTS)
    wrong = [address for address in given if not _ADDRESS.fullmatch(_as_mailed(address))]
    return gettext("“{text}” is no email address", text=wrong[0]) if wrong else None


def _as_mailed(address: str) -> str:
    """Return an address with its domain as DNS writes it (RFC 5891); unchanged where that cannot be."""
    local, at, domain = address.rpartition("@")
    if domain.isascii():
        return address
    try:
        return f"{local}{at}{idna.encode(domain, uts46=True, std3_rules=True).decode()}"
    except idna.IDNAError:
        return address


def _as_read(address: str) -> str:
    """Return the domain of an address beside what DNS writes for it, which no lookalike letters disguise."""
    domains = [text.rpartition("@")[2] for text in (address, _as_mailed(address))]
    return "" if domains[0] == domains[1] else gettext("{domain} is {code}", domain=domains[0], code=domains[1])


def _are_some_addresses(given: Sequence[str]) -> str | None:
    return _are_addresses(given) if given else gettext("it is empty")


def _is_one_line(given: str) -> bool:
    return len(given) <= 500 and given.isprintable()


@dataclass(frozen=True, slots=True)
class _Account:
    """A server that takes mail, and the sender. `tls` is `implicit`, `starttls` or `none`."""

    host: str
    port: int
    tls: str
    user: str
    password: str
    name: str
    address: str


@valet(name="SendEmailAgent", accounts=("mail.send",), timeout=90)
class SendEmailAgent(StandardAgent):
    """Send an email from the person's own account."""

    recipient = InputField(
        gettext_noop("Who should receive it?"),
        description="Email address of each recipient",
        type=list[str],
        validator=_are_some_addresses,
        pattern=_LOOKS_LIKE_ONE,
        validator_description=gettext_noop("each must be an address such as sam@example.com, without a name"),
    )
    cc = InputField(
        gettext_noop("Who should get a copy?"),
        description="Email address of each who gets a copy",
        type=list[str],
        required=False,
        default=[],
        validator=_are_addresses,
        pattern=_LOOKS_LIKE_ONE,
        validator_description=gettext_noop("each must be an address such as sam@example.com, without a name"),
    )
    subject = InputField(
        gettext_noop("What is the subject?"),
        required=False,
        default="",
        validator=_is_one_line,
        validator_description=gettext_noop("one line of at most 500 characters"),
    )
    body = InputField(gettext_noop("What should it say?"), description="The whole text, as it is to be sent")
    account = InputField(
        gettext_noop("From which account?"),
        description="Name of the connected email account; leave it out unless the person named one",
        required=False,
        default="",
    )

    def needs_approval(self) -> bool:
        return True

    def approval_request(self) -> ApprovalRequest:
        addresses: list[str] = [*self.recipient, *self.cc]
        first, *others = addresses
        summary = gettext("Send an email to {address}", address=first)
        if others:
            summary = ngettext(
                "Send an email to {address} and {number} more",
                "Send an email to {address} and {number} more",
                len(others),
                address=first,
            )
        if domains := dict.fromkeys(read for address in addresses if (read := _as_read(address))):
            summary = f"{summary} ({', '.join(domains)})"
        return replace(super().approval_request(), action_summary=summary)

    async def ask_first(self) -> Mapping[str, str]:
        accounts = await self.context.credentials.accounts(self.tenant_id, _SERVICE)
        known = self.account in accounts.names if self.account else len(accounts.names) < 2 or accounts.chosen
        if known or len(accounts.names) < 2:
            return {}
        return {"account": gettext("From which account: {accounts}?", accounts=listed(accounts.names, "or"))}

    async def on_running(self, msg: str) -> AgentResult:
        account = await self._account()
        recipients = list(dict.fromkeys(_as_mailed(address) for address in [*self.recipient, *self.cc]))
        await _send(account, recipients, self._message(account))
        to, copies = ", ".join(self.recipient), ", ".join(self.cc)
        sent = gettext("Sent to {addresses}.", addresses=to)
        if copies:
            sent = gettext("Sent to {addresses}, with a copy to {copies}.", addresses=to, copies=copies)
        return self.make_result(raw_message=sent)

    async def _account(self) -> _Account:
        credentials, name = self.context.credentials, self.account
        if not name:
            accounts = await credentials.accounts(self.tenant_id, _SERVICE)
            if len(accounts.names) > 1 and not accounts.chosen:
                names = ", ".join(accounts.names)
                raise ToolFailed(
                    gettext("Nothing was sent: there are several accounts ({accounts}).", accounts=names),
                    note="Ask the person from which one.",
                )
            name = accounts.chosen
        kept = await credentials.get(self.tenant_id, _SERVICE, name) if name else None
        if kept is None:
            raise ToolFailed(gettext("Nothing was sent: no such email account is connected."))
        return _read_account(kept)

    def _message(self, account: _Account) -> bytes:
        # The policy rejects line breaks in headers and encodes everything else.
        message = EmailMessage(policy=_POLICY)
        message["From"] = Address(account.name, addr_spec=account.address)
        message["To"] = [Address(addr_spec=_as_mailed(address)) for address in self.recipient]
        if self.cc:
            message["Cc"] = [Address(addr_spec=_as_mailed(address)) for address in self.cc]
        message["Date"] = format_datetime(self.context.clock.now())
        # The same call has the same Message-ID, so that two copies of it are shown as one email.
        digest = hashlib.sha256(self.context.idempotency_key.encode()).hexdigest()[:40]
        message["Message-ID"] = f"<{digest}@{account.address.rpartition('@')[2]}>"
        message.set_content(self.body)
        return _subject_line(self.subject) + message.as_bytes()


def _subject_line(subject: str) -> bytes:
    """Return the header that every mail program reads as this very text."""
    # Folded by EmailMessage, a text in several encoded words loses spaces (CPython 3.12), and one that looks like an
    # encoded word would be decoded.
    plain = _PLAIN_SUBJECT.fullmatch(subject)
    written = subject if plain else Header(subject, "utf-8", header_name="Subject").encode(linesep="\r\n")
    return f"Subject: {written}\r\n".encode("ascii")


def _read_account(kept: Mapping[str, object]) -> _Account:
    user = str(kept.get("user") or "")
    sender = str(kept.get("from") or user)
    name, address = parseaddr(sender)
    address = _as_mailed(address)
    port = kept.get("port") or 465
    tls = str(kept.get("tls") or ("implicit" if port == 465 else "starttls"))
    host = str(kept.get("host") or "")
    if not host or not isinstance(port, int) or not _ADDRESS.fullmatch(address) or not sender.isprintable():
        raise ToolFailed(gettext("Nothing was sent: what is stored for this email account is not complete."))
    if tls not in ("implicit", "starttls", "none"):
        raise ToolFailed(gettext("Nothing was sent: `tls` of this email account must be implicit, starttls or none."))
    return _Account(host, port, tls, user, str(kept.get("password") or ""), name, address)


async def _send(account: _Account, recipients: Sequence[str], message: bytes) -> None:
    """Submit a message for all recipients or none; raise `ToolFailed` where it certainly was not accepted."""
    client = SMTP(
        hostname=account.host,
        port=account.port,
        use_tls=account.tls == "implicit",
        start_tls=account.tls == "starttls",
        local_hostname=account.address.rpartition("@")[2],
        timeout=_SECONDS,
    )
    try:
        try:
            await client.connect(username=account.user or None, password=account.password or None)
            await client.mail(account.address)
            for recipient in recipients:
                await client.rcpt(recipient)
        except (SMTPException, OSError, ValueError) as error:
            raise ToolFailed(gettext("Nothing was sent: {reason}.", reason=_plain(error))) from error
        try:
            await client.data(message)
        except SMTPResponseException as error:
            raise ToolFailed(
                gettext("Nothing was sent: the mail server refuses the email ({code}).", code=error.code)
            ) from error
        # Any other error leaves open whether it was accepted, and is raised unchanged.
        with suppress(SMTPException, OSError):
            await client.quit()
    finally:
        client.close()


def _plain(error: Exception) -> str:
    match error:
        case SMTPAuthenticationError():
            return gettext("the mail server does not accept the stored user and password")
        case SMTPRecipientRefused():
            return gettext("the mail server refuses {address}", address=error.recipient)
        case SMTPResponseException():
            return gettext("the mail server refuses this sender ({code})", code=error.code)
        case TimeoutError():
            return gettext("the mail server gave no answer in time")
        case _:
            return gettext("no safe connection to the mail server could be made")
