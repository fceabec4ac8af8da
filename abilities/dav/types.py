"""Values of calendars and address books on a server, and what a server may answer in place of them."""

from dataclasses import dataclass
from enum import StrEnum

from core.errors import ToolFailed
from core.http.failures import NoAnswer
from core.http.peer import Allowance
from core.language.catalogue import gettext

MAX_BYTES = 12 * 1024 * 1024
"""Of one answer: the events of months, or an address book with pictures."""

OPERATION = Allowance(size=48 * 1024 * 1024, pieces=1000, seconds=90.0)
"""What an account's servers may answer in one call of a tool: all of it may be held at the same time."""


class Kind(StrEnum):
    """What a collection holds, by the name of its server in `OpenAccount.servers`."""

    CALENDAR = "caldav"
    ADDRESS_BOOK = "carddav"


@dataclass(frozen=True, slots=True)
class Collection:
    """A calendar or an address book. `url` ends with a slash; `name` was given by somebody: it proves nothing."""

    url: str
    name: str
    writable: bool = True
    preferred: bool = False
    """The server puts there what names no other."""
    ctag: str = ""
    """Another one whenever anything in it has changed (its ctag or sync token); empty where the server tells none."""


@dataclass(frozen=True, slots=True)
class Home:
    """What an account has on its server. `addresses` are those under which its person is invited, in lower case.

    `schedules`: the server itself sends invitations and answers (RFC 6638).
    """

    collections: tuple[Collection, ...]
    url: str = ""
    """Where its person may make a collection; empty where the server does not say."""
    addresses: frozenset[str] = frozenset()
    schedules: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """An event or a contact as it is stored. `etag` names this state of it; empty where the server did not say."""

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
    """What was to be written is not as it was read, or is there already: nothing was overwritten."""


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
            return gettext("That is not there any more.")
        case 409 | 412:
            return gettext("It has been changed elsewhere in the meantime, so nothing was overwritten.")
        case 507:
            return gettext("{host} has no room left for this account.", host=host)
    return gettext("{host} does not answer as it should ({status}).", host=host, status=status)
