"""Find an account's calendars and address books from the known address of its server (RFC 6764, 5397)."""

from urllib.parse import unquote, urljoin, urlsplit

from abilities.dav.client import Answered, DavClient
from abilities.dav.types import Collection, DavRefused, Home, Kind
from abilities.dav.xml import CALDAV, CALENDARSERVER, CARDDAV, DAV, Found
from core.errors import ToolFailed
from core.language.catalogue import gettext

MAX_COLLECTIONS = 50
_PRINCIPAL = f"{DAV}current-user-principal"
_TYPE = f"{DAV}resourcetype"
_NAME = f"{DAV}displayname"
_PRIVILEGES = f"{DAV}current-user-privilege-set"
_COMPONENTS = f"{CALDAV}supported-calendar-component-set"
_ADDRESSES = f"{CALDAV}calendar-user-address-set"
_OUTBOX = f"{CALDAV}schedule-outbox-URL"
_INBOX = f"{CALDAV}schedule-inbox-URL"
_DEFAULT = f"{CALDAV}schedule-default-calendar-URL"
_HOMES = {Kind.CALENDAR: f"{CALDAV}calendar-home-set", Kind.ADDRESS_BOOK: f"{CARDDAV}addressbook-home-set"}
_TYPES = {Kind.CALENDAR: f"{CALDAV}calendar", Kind.ADDRESS_BOOK: f"{CARDDAV}addressbook"}
_WRITES = {f"{DAV}{name}" for name in ("all", "write", "write-content", "bind")}
_TAGS = (f"{CALENDARSERVER}getctag", f"{DAV}sync-token")
_OF_A_COLLECTION = (_TYPE, _NAME, _PRIVILEGES, _COMPONENTS, *_TAGS)


async def discover(client: DavClient, kind: Kind) -> Home:
    """Return an account's collections of a kind. Raises `ToolFailed` if its server has none, or does not list them."""
    begin = client.account.servers.get(kind.value)
    if not begin:
        raise ToolFailed(gettext("This account has no calendars or contacts."))
    home = _HOMES[kind]
    wanted = (*_OF_A_COLLECTION, _PRINCIPAL, home, _ADDRESSES, _OUTBOX, _INBOX)
    answered = await _first(client, begin, kind, wanted)
    first = answered.found[0] if answered.found else Found("", 404)
    if _is(first, kind):
        return Home((_collection(answered, first),))
    if principals := first.hrefs(_PRINCIPAL):
        principal = _elsewhere(answered, principals[0])
        answered = await client.propfind(principal, (home, _ADDRESSES, _OUTBOX, _INBOX))
        first = answered.found[0] if answered.found else first
    homes = [_elsewhere(answered, href) for href in first.hrefs(home)]
    collections: dict[str, Collection] = {}
    preferred = await _preferred(client, answered, first) if kind is Kind.CALENDAR else ""
    for url in homes or [begin]:
        for collection in await collections_in(client, kind, url, preferred):
            collections.setdefault(collection.url, collection)
    known = tuple(collections.values())[:MAX_COLLECTIONS]
    schedules = kind is Kind.CALENDAR and await _schedules(client, answered, first)
    return Home(known, homes[0] if homes else "", _addresses(first), schedules)


async def collections_in(client: DavClient, kind: Kind, home: str, preferred: str = "") -> list[Collection]:
    """Return the collections of a kind in a known home: a single request, whereas discovery makes several."""
    listed = await client.propfind(home, _OF_A_COLLECTION, depth=1)
    return [_collection(listed, found, preferred) for found in listed.found if _is(found, kind)][:MAX_COLLECTIONS]


async def _first(client: DavClient, begin: str, kind: Kind, wanted: tuple[str, ...]) -> Answered:
    """Query the address at which discovery begins, or the target of the server's well-known address (RFC 6764 6)."""
    failed: DavRefused | None = None
    try:
        answered = await client.propfind(begin, wanted)
        if any(_is(found, kind) or found.hrefs(_PRINCIPAL) or found.hrefs(_HOMES[kind]) for found in answered.found):
            return answered
    except DavRefused as error:
        if error.status not in (301, 302, 404, 405, 403, 501):
            raise
        failed = error
    leads = await client.lead(urljoin(begin, f"/.well-known/{kind.value}"))
    if leads and leads != begin and _is_as_safe(begin, leads):
        return await client.propfind(leads, wanted)
    if failed is not None:
        raise failed
    return answered


async def _preferred(client: DavClient, principal: Answered, found: Found) -> str:
    """Return the calendar into which the server itself puts invitations; empty if it names none."""
    inboxes = found.hrefs(_INBOX)
    if not inboxes:
        return ""
    try:
        inbox = await client.propfind(_elsewhere(principal, inboxes[0]), (_DEFAULT,))
    except DavRefused:
        return ""
    hrefs = [href for one in inbox.found for href in one.hrefs(_DEFAULT)]
    return inbox.address(hrefs[0]) if hrefs else ""


async def _schedules(client: DavClient, principal: Answered, found: Found) -> bool:
    """Return whether the server sends invitations by itself (RFC 6638 2).

    An outbox alone proves nothing: by an older draft, the client itself posts outgoing messages there.
    """
    if not found.hrefs(_OUTBOX):
        return False
    features = await client.features(principal.url)
    # Google sends them, no matter which features it lists.
    return not features or "calendar-auto-schedule" in features or client.account.account.service == "google"


def _is(found: Found, kind: Kind) -> bool:
    """Return whether this is a collection of a kind; a calendar must take events."""
    if _TYPES[kind] not in found.children(_TYPE):
        return False
    components = found.properties.get(_COMPONENTS)
    return (
        kind is not Kind.CALENDAR
        or components is None
        or any(component.get("name", "").upper() == "VEVENT" for component in components)
    )


def _collection(answered: Answered, found: Found, preferred: str = "") -> Collection:
    url = _with_slash(answered.address(found.href))
    privileges = found.children(_PRIVILEGES)
    name = found.text(_NAME) or unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    return Collection(
        url,
        " ".join(name.split())[:100],
        writable=_PRIVILEGES not in found.properties or bool(privileges & _WRITES),
        preferred=bool(preferred) and url == _with_slash(preferred),
        ctag=next((tag for name in _TAGS if (tag := found.text(name))), ""),
    )


def _with_slash(url: str) -> str:
    """Return a collection's address as it ends; servers name it with the slash and without."""
    return url if url.endswith("/") else f"{url}/"


def _addresses(found: Found) -> frozenset[str]:
    hrefs = (href.lower() for href in found.hrefs(_ADDRESSES))
    return frozenset(href.removeprefix("mailto:") for href in hrefs if href.startswith("mailto:"))


def _elsewhere(answered: Answered, href: str) -> str:
    """Return an address that a server names; it may be on another host, to which the account's secret then goes."""
    url = answered.address(href)
    if not _is_as_safe(answered.url, url):
        host = urlsplit(answered.url).hostname or ""
        raise ToolFailed(gettext("{host} names an address that is not safe.", host=host))
    return url


def _is_as_safe(before: str, after: str) -> bool:
    old, new = urlsplit(before), urlsplit(after)
    return new.scheme == "https" or (old.scheme == "http" and old.netloc == new.netloc)
