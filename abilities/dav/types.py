"""Values of calendars and address books on a server, and a server's refusals."""

from dataclasses import dataclass
from enum import StrEnum

from core.errors import ToolFailed
from core.http.failures import NoAnswer
from core.http.peer import Allowance
from core.language.catalogue import gettext

MAX_BYTES = 12 * 1024 * 1024
"""Of a single answer: the events of months, or an address book with pictures."""

OPERATION = Allowance(size=48 * 1024 * 1024, pieces=1000, seconds=90.0)
"""Limit of the answers of an account's servers in a call of a tool: all of it may be held in memory at once."""


class Kind(StrEnum):
    """Kinds of collections, by the name of their server in `OpenAccount.servers`."""

    CALENDAR = "caldav"
    ADDRESS_BOOK = "carddav"


@dataclass(frozen=True, slots=True)
class Collection:
    """A calendar or an address book. `url` ends with a slash; people chose `name`, so it proves nothing."""

    url: str
    name: str
    writable: bool = True
    preferred: bool = False
    """The server puts resources there that name no collection."""
    ctag: str = ""
    """Changes with any change in it (its ctag or sync token); empty if the server reports none."""


@dataclass(frozen=True, slots=True)
class Home:
    """An account's collections on its server. `addresses` are those under which its person is invited, in lower case.

    `schedules`: the server itself sends invitations and answers (RFC 6638).
    """

    collections: tuple[Collection, ...]
    url: str = ""
    """The address at which new collections may be made; empty if the server names none."""
    addresses: frozenset[str] = frozenset()
    schedules: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """A stored event or contact. `etag` names this state of it; empty if the server did not report it."""

    url: str
    etag: str
    text: str = ""


class DavRefused(ToolFailed):
    """A server refused a request. `status` is HTTP's."""

    def __init__(self, status: int, host: str) -> None:
        super().__init__(_in_words(status, host))
        self.status = status
        self.host = host


class Changed(DavRefused):
    """The resource to write has changed since it was read, or exists already: nothing was overwritten."""


class TooLarge(NoAnswer):
    """An answer is longer than `MAX_BYTES`."""


class Missing(DavRefused):
    """There is nothing at that address any more."""


def refused(status: int, host: str) -> DavRefused:
    """Return the error for a status that is no success."""
    kind = Changed if status in (409, 412) else Missing if status in (404, 410) else DavRefused
    return kind(status, host)


def _in_words(status: int, host: str) -> str:
    match status:
        case 401:
            return gettext("{host} does not accept the account any more. Connect it again.", host=host)
        case 403:
            return gettext("{host} does not allow that with this account.", host=host)
        case 404 | 410:
            return gettext("That no longer exists.")
        case 409 | 412:
            return gettext("It has been changed elsewhere in the meantime, so nothing was overwritten.")
        case 507:
            return gettext("{host} has no room left for this account.", host=host)
    return gettext("{host} does not answer as it should ({status}).", host=host, status=status)
