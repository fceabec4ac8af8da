"""The settings of accounts that people connect: our clients at Google, Microsoft, and OpenID servers by name."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from core.errors import ConfigError
from onevalet.ability import OwnSettings, SettingFamily

OPENID_PREFIX = "onevalet_oidc_"
_KEYS = (
    "issuer",
    "client_id",
    "client_secret",
    "label",
    "scopes",
    "mail_scope",
    "calendar_scope",
    "contacts_scope",
    "imap",
    "smtp",
    "caldav",
    "carddav",
)
_NAME = re.compile(rf"([a-z0-9]{{1,20}})_({'|'.join(_KEYS)})")
_SCHEMES = {
    "issuer": ("https://", "http://"),
    "imap": ("imaps://", "imap+starttls://", "imap://"),
    "smtp": ("smtps://", "smtp+starttls://", "smtp://"),
    "caldav": ("https://", "http://"),
    "carddav": ("https://", "http://"),
}
_SCOPED = {"mail_scope": ("imap", "smtp"), "calendar_scope": ("caldav",), "contacts_scope": ("carddav",)}
"""Each scope with the servers that it allows."""
TAKEN = frozenset({"email", "caldav", "google", "microsoft"})


class AccountSettings(BaseSettings):
    """The settings of people's accounts."""

    onevalet_google_client_id: str | None = None
    onevalet_google_client_secret: SecretStr | None = None
    onevalet_microsoft_client_id: str | None = None
    onevalet_microsoft_client_secret: SecretStr | None = None
    onevalet_microsoft_directory: str = Field(default="common", pattern=r"^[A-Za-z0-9.-]{1,100}$")
    openid: dict[str, dict[str, str]] = Field(default_factory=dict, exclude=True, repr=False)
    """`ONEVALET_OIDC_<NAME>_<KEY>`, by the server's name and the key, both in lower case."""


def check_accounts(settings: AccountSettings) -> None:
    """Raise an error for a client or a server of which only some settings are set."""
    for name in ("google", "microsoft"):
        given = getattr(settings, f"onevalet_{name}_client_id"), getattr(settings, f"onevalet_{name}_client_secret")
        if any(given) and not all(given):
            both = f"ONEVALET_{name.upper()}_CLIENT_ID and ONEVALET_{name.upper()}_CLIENT_SECRET"
            raise ConfigError(f"{both} belong together: set both, or neither.")
    for name, server in settings.openid.items():
        _check_server(name, server)


def _servers(given: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
    """Return the settings of each server by their keys. Raises `ConfigError`."""
    servers: dict[str, dict[str, str]] = {}
    for name, value in given.items():
        if not (match := _NAME.fullmatch(name)):
            keys = ", ".join(key.upper() for key in _KEYS)
            raise ConfigError(
                f"{OPENID_PREFIX}{name}".upper()
                + f" is no setting: {OPENID_PREFIX.upper()} is followed by the server's"
                f" name, up to 20 letters and digits, and one of {keys}."
            )
        servers.setdefault(match[1], {})[match[2]] = value.strip()
    return servers


def _check_server(name: str, server: Mapping[str, str]) -> None:
    prefix = f"{OPENID_PREFIX}{name}_".upper()
    if name in TAKEN:
        raise ConfigError(f"{prefix}ISSUER cannot be used: {name} is another service's name.")
    if not server.get("issuer") or not server.get("client_id"):
        raise ConfigError(f"{prefix}ISSUER and {prefix}CLIENT_ID belong together: set both, or neither.")
    for key, schemes in _SCHEMES.items():
        if key in server:
            _check_url(f"{prefix}{key.upper()}", server[key], schemes)
    issuer = urlsplit(server["issuer"])
    if issuer.scheme == "http" and not _is_here(issuer.hostname or ""):
        raise ConfigError(f"{prefix}ISSUER cannot be used: it must start with https://, for tokens pass through it.")
    if issuer.query or issuer.fragment:
        raise ConfigError(f"{prefix}ISSUER cannot be used: an issuer has neither ? nor #.")
    _check_scopes(prefix, server)


def _check_scopes(prefix: str, server: Mapping[str, str]) -> None:
    """Refuse a scope without its server, and a server that no scope would ever allow."""
    scoped = [scope for scope in _SCOPED if scope in server]
    for scope, keys in _SCOPED.items():
        there = [key for key in keys if key in server]
        if scope in server and not there:
            needed = " or ".join(f"{prefix}{key.upper()}" for key in keys)
            raise ConfigError(f"{prefix}{scope.upper()} is of no use without {needed}.")
        if scoped and there and scope not in server:
            missing, other = f"{prefix}{scope.upper()}", f"{prefix}{scoped[0].upper()}"
            raise ConfigError(f"{missing} must be set as well as {other}, or {there[0].upper()} is never allowed.")


def _check_url(setting: str, url: str, schemes: Sequence[str]) -> None:
    try:
        parts = urlsplit(url)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not url.startswith(tuple(schemes)):
        raise ConfigError(f"{setting} cannot be used: it must start with {' or '.join(schemes)}.")
    if not whole:
        raise ConfigError(f"{setting} cannot be used: it is not a complete URL.")


def _is_here(host: str) -> bool:
    """Return whether a host is this machine, on which a server is tried out."""
    return host in ("localhost", "127.0.0.1", "::1")


def _secrets(settings: AccountSettings) -> Sequence[str]:
    return [server["client_secret"] for server in settings.openid.values() if "client_secret" in server]


ACCOUNTS = OwnSettings(
    AccountSettings,
    check=check_accounts,
    secrets=_secrets,
    family=SettingFamily(OPENID_PREFIX, "openid", _servers),
)
