"""Which addresses a model or a message may lead us to: the public internet, and nothing that hides behind it.

What is not public is listed by the IANA special-purpose address registries (RFC 6890 and its successors). Of
IPv6 only the global unicast space counts, without the parts that carry an IPv4 address inside: mapped,
compatible and NAT64 addresses lie outside of it, 6to4 and Teredo are refused by name.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from yarl import URL

USUAL_PORTS = {"http": 80, "https": 443}
MAX_URL = 8000
"""Characters of an address; servers and proxies rarely take more."""

_BARRED_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network; 0.0.0.0 reaches ourselves
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared with carriers (CGNAT); a cloud's metadata among them
        "127.0.0.0/8",
        "168.63.129.16/32",  # public by number, and inside of Azure the host's own service
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
    """An address that is not fetched; the message is one plain sentence."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `host` is lower case, without brackets and without a last dot."""

    url: URL
    scheme: str
    host: str
    port: int

    @property
    def literal(self) -> bool:
        """Return whether the host is an address by number."""
        return _as_address(self.host) is not None


def is_public(address: str) -> bool:
    """Return whether a numeric address lies on the public internet, as itself."""
    found = _as_address(address)
    if isinstance(found, IPv4Address):
        return not any(found in network for network in _BARRED_V4)
    if isinstance(found, IPv6Address):
        return found in _GLOBAL_V6 and not any(found in network for network in _BARRED_V6)
    return False


def read_target(text: str) -> Target:
    """Read an address that somebody named; raises `Barred` for all that may mean two things to two readers."""
    if len(text) > MAX_URL or _UNSEEMLY.search(text):
        raise Barred("That is no well-formed web address.")
    try:
        url = URL(text)
        scheme, host, port = url.scheme, url.raw_host, url.port
    except ValueError as error:
        raise Barred("That is no well-formed web address.") from error
    if scheme not in USUAL_PORTS:
        raise Barred("Only http and https addresses can be fetched.")
    # As written, too: the parser forgets an empty user, and what else stood between brackets.
    authority = re.split("[/?#]", text.partition("://")[2], maxsplit=1)[0]
    if "@" in authority or url.raw_user is not None:
        raise Barred("An address with a user name in it is not fetched.")
    if not host or not port or ("[" in authority) != (":" in host):
        raise Barred("That is no well-formed web address.")
    return Target(url.with_fragment(None), scheme, read_host(host), port)


def read_host(host: str) -> str:
    """Return a host's one spelling; raises `Barred` for a number in disguise (127.1, 0x7f000001, 2130706433)."""
    host = host.lower()
    if _as_address(host) is not None:
        return host
    if not _NAME.fullmatch(host):
        raise Barred("That is no well-formed web address.")
    host = host.removesuffix(".")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        raise Barred("A server's number must be written in the usual way.")
    return host


def _as_address(text: str) -> IPv4Address | IPv6Address | None:
    if "%" in text:  # a zone: an address of this machine's own networks
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None
