"""The addresses that may be fetched: the public internet, and nothing behind it.

Addresses that are not public are listed by the IANA special-purpose address registries (RFC 6890 and its successors).
Of IPv6 only the global unicast space is allowed, without the parts that embed an IPv4 address: mapped, compatible and
NAT64 addresses lie outside of it, 6to4 and Teredo are listed here.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from yarl import URL

from core.language.catalogue import gettext, gettext_noop

USUAL_PORTS = {"http": 80, "https": 443}
MAX_URL = 8000
"""Characters of an address; servers and proxies rarely accept more."""

_BARRED_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network; 0.0.0.0 reaches ourselves
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared with carriers (CGNAT); a cloud's metadata among them
        "127.0.0.0/8",
        "168.63.129.16/32",  # a public number, but within Azure the host's own service
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation, as two more below
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_BARRED_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation, as 3fff::/20
        "2002::/16",  # 6to4
        "3fff::/20",
    )
)
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNSEEMLY = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]")


class Barred(ValueError):
    """An address must not be fetched. `reason` is a plain sentence, `values` fill its fields."""

    def __init__(self, reason: str, **values: str) -> None:
        super().__init__(reason.format_map(values) if values else reason)
        self._reason, self._values = reason, values

    def in_words(self) -> str:
        """Return the reason in the person's language."""
        return gettext(self._reason, **self._values)


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request. `host` is lower case, without brackets and trailing dot."""

    url: URL
    scheme: str
    host: str
    port: int

    @property
    def literal(self) -> bool:
        return _as_address(self.host) is not None


def is_public(address: str) -> bool:
    """Return whether a numeric address lies on the public internet."""
    number = _as_address(address)
    if isinstance(number, IPv4Address):
        return not any(number in network for network in _BARRED_V4)
    if isinstance(number, IPv6Address):
        return number in _GLOBAL_V6 and not any(number in network for network in _BARRED_V6)
    return False


def read_target(text: str) -> Target:
    """Parse a web address; raises `Barred` for an address that two parsers may read differently."""
    if len(text) > MAX_URL or _UNSEEMLY.search(text):
        raise Barred(gettext_noop("That is not a valid web address."))
    try:
        url = URL(text)
        scheme, host, port = url.scheme, url.raw_host, url.port
    except ValueError as error:
        raise Barred(gettext_noop("That is not a valid web address.")) from error
    if scheme not in USUAL_PORTS:
        raise Barred(gettext_noop("Only http and https addresses can be fetched."))
    # The text as well: the parser drops an empty user name, and other text between brackets.
    authority = re.split("[/?#]", text.partition("://")[2], maxsplit=1)[0]
    if "@" in authority or url.raw_user is not None:
        raise Barred(gettext_noop("An address with a user name in it is not fetched."))
    if not host or not port or ("[" in authority) != (":" in host):
        raise Barred(gettext_noop("That is not a valid web address."))
    return Target(url.with_fragment(None), scheme, read_host(host), port)


def read_host(host: str) -> str:
    """Return a host in canonical form; raises `Barred` for disguised numbers (127.1, 0x7f000001, 2130706433)."""
    host = host.lower()
    if _as_address(host) is not None:
        return host
    if not _NAME.fullmatch(host):
        raise Barred(gettext_noop("That is not a valid web address."))
    host = host.removesuffix(".")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        raise Barred(gettext_noop("A server's IP address must be written in the usual way."))
    return host


def _as_address(text: str) -> IPv4Address | IPv6Address | None:
    if "%" in text:  # a zone: an address of this machine's own networks
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None
