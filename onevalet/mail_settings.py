"""The settings of email: the server that takes our mail, and the assistant's own mailbox."""

import re
from typing import Annotated, Literal
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field, SecretStr

from core.errors import ConfigError
from core.notifications.mail_addresses import read_mail_address, read_sender
from onevalet.file_settings import FileSettings, without_login

_MICROSOFT = re.compile(r"outlook\.office(?:365)?\.com|(?:.+\.)?outlook\.com")
_SCHEMES = ("imaps", "imap+starttls", "imap")


def _sender(value: str) -> str:
    if value and not read_sender(value):
        raise ValueError("must be an address such as valet@example.org, or Valet <valet@example.org>")
    return read_sender(value)


def _mailbox(value: str) -> str:
    address = read_mail_address(value).lower()
    if value and not (address and address.isascii()):
        raise ValueError("must be an address such as valet@example.org")
    return address


def _imap_url(url: SecretStr | None) -> SecretStr | None:
    value = url.get_secret_value() if url else ""
    try:
        parts = urlsplit(value)
        is_good = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
        is_good = is_good and bool(parts.username) == bool(parts.password)
    except ValueError:  # a port that is no number
        is_good = False
    if value and not is_good:
        raise ValueError(
            "must be an address such as imaps://mail.example.org, or imaps://user:password@mail.example.org, in which @"
            " is written as %40 and / as %2F"
        )
    if value and _MICROSOFT.fullmatch(urlsplit(value).hostname or ""):
        raise ValueError("must be a server that takes a password, which Microsoft's do not: docs/channels/email.md")
    return url


def _authserv_id(value: str) -> str:
    if value and not re.fullmatch(r"[A-Za-z0-9._-]{1,253}", value):
        raise ValueError("must be a name such as mail.example.org: the first word of Authentication-Results")
    return value.lower()


type Sender = Annotated[str, AfterValidator(_sender)]
type MailboxAddress = Annotated[str, AfterValidator(_mailbox)]
type ImapUrl = Annotated[SecretStr | None, AfterValidator(_imap_url)]
type AuthservId = Annotated[str, AfterValidator(_authserv_id)]


class MailSettings(FileSettings):
    """The settings of email."""

    smtp_host: str = ""
    smtp_port: int = Field(default=587, ge=1, le=65535)
    smtp_user: str = ""
    smtp_password: SecretStr | None = None
    smtp_from: Sender = ""
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"

    onevalet_mail_address: MailboxAddress = ""
    onevalet_mail_imap_url: ImapUrl = None
    onevalet_mail_authserv_id: AuthservId | None = None

    @property
    def email_on(self) -> bool:
        """Return whether email is sent."""
        return bool(self.smtp_host and self.smtp_from)

    @property
    def mailbox_on(self) -> bool:
        """Return whether people can write to the assistant by email."""
        return self.email_on and bool(self.onevalet_mail_address)

    @property
    def mailbox_url(self) -> str:
        """Return the server of the mailbox, without the login."""
        return without_login(self._imap_url)

    @property
    def mailbox_user(self) -> str:
        """Return the user of the mailbox: that of its URL, or of the server that takes our mail."""
        return unquote(urlsplit(self._imap_url).username or "") or self.smtp_user

    @property
    def mailbox_password(self) -> SecretStr | None:
        """Return the password of the mailbox, of the same origin."""
        own = urlsplit(self._imap_url).password
        return SecretStr(unquote(own)) if own else self.smtp_password

    @property
    def _imap_url(self) -> str:
        url = self.onevalet_mail_imap_url
        return url.get_secret_value() if url else ""


def check_mailbox(settings: MailSettings) -> None:
    """Raise an error for an incomplete mailbox, naming the missing settings."""
    group: dict[str, object] = {
        "ONEVALET_MAIL_ADDRESS": settings.onevalet_mail_address,
        "ONEVALET_MAIL_IMAP_URL": settings.mailbox_url,
        "ONEVALET_MAIL_AUTHSERV_ID": settings.onevalet_mail_authserv_id,
    }
    if not any(group.values()):
        return
    group |= {
        "SMTP_USER": settings.mailbox_user,
        "SMTP_PASSWORD": settings.mailbox_password,
        "SMTP_HOST": settings.smtp_host,
        "SMTP_FROM": settings.smtp_from,
    }
    missing = [name for name, value in group.items() if not value]
    if missing:
        raise ConfigError(f"The mailbox is half configured: set {' and '.join(missing)}, or unset the others.")
