"""Keep a Python process of the tests on this machine: Python imports this file at its start, from PYTHONPATH.

A connection, a datagram or a name that would leave loopback is refused before anything is sent, and written to the file
named by ONEVALET_TEST_LEFT_LOOPBACK, so that the test fails even where the refusal was handled as an outage.
"""

import ipaddress
import os
import socket
import sys

RECORD = "ONEVALET_TEST_LEFT_LOOPBACK"
_LOCAL_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", socket.gethostname()})
_HOSTS = ipaddress.ip_network("198.18.0.0/15")
"""Set apart for measurements (RFC 2544), so it is no other machine's: the hosts of `tests.namespaces` are there."""
_SENDS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_RESOLVES = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})


class LeftLoopback(OSError):
    """A test tried to reach another machine."""


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what would leave this machine: an audit hook (https://docs.python.org/3/library/audit_events.html)."""
    if event in _SENDS:
        target = arguments[1]
        host = target[0] if isinstance(target, tuple) and target else None
        if host is not None and not stays(host):
            _refuse(event, host)
    elif event in _RESOLVES and arguments[0] is not None and not resolves_here(arguments[0]):
        _refuse(event, arguments[0])


def stays(host: object) -> bool:
    """Return whether an address that is sent to is this machine's own."""
    text = _text(host)
    if text in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    # Linux connects to itself where the unspecified address is named.
    return address.is_loopback or address.is_unspecified or address in _HOSTS


def resolves_here(host: object) -> bool:
    """Return whether a name is looked up without asking a name server: an address, or one of this machine's names."""
    text = _text(host)
    if not text or text in _LOCAL_NAMES:
        return True
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return _is_number(text)
    return True


def _is_number(text: str) -> bool:
    """Return whether the C library reads a text as an IPv4 address, as it does 127.1 and 0x7f000001."""
    try:
        socket.inet_aton(text)
    except (OSError, UnicodeEncodeError, ValueError):
        return False
    return True


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)


def _refuse(event: str, host: object) -> None:
    if path := os.environ.get(RECORD):
        with open(path, "a", encoding="utf-8") as record:
            record.write(f"{event} {_text(host)}\n")
    raise LeftLoopback(f"tests stay on loopback: {event} {_text(host)!r}")


if RECORD in os.environ:
    sys.addaudithook(watch)
