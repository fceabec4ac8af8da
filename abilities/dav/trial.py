"""Try a login at a server of calendars and contacts before it is stored."""

from abilities.dav.client import DavClient
from abilities.dav.discovery import discover
from abilities.dav.types import DavRefused, Kind
from core.credentials.trial import Fault, TrialFailed
from core.credentials.types import OpenAccount
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.language.catalogue import gettext


async def try_login(account: OpenAccount, http: HttpClient) -> frozenset[str]:
    """Return the kinds of an account's servers that have calendars or contacts. Raises `TrialFailed` if none has."""
    found, failed = set(), list[TrialFailed]()
    client = DavClient(http, account)
    for kind in Kind:
        try:
            await _try_kind(client, kind)
            found.add(kind.value)
        except TrialFailed as error:
            failed.append(error)
    if not found:
        raise next((error for error in failed if error.fault is Fault.LOGIN), failed[0])
    return frozenset(found)


async def _try_kind(client: DavClient, kind: Kind) -> None:
    nothing = gettext("There are no calendars or contacts at this address.")
    try:
        home = await discover(client, kind)
    except DavRefused as error:
        if error.status in (401, 403):
            refused = gettext("{host} does not accept this login or password.", host=error.host)
            raise TrialFailed(refused, Fault.LOGIN) from error
        is_theirs = error.status < 500
        raise TrialFailed(nothing if is_theirs else str(error), Fault.URL) from error
    except ToolFailed as error:
        raise TrialFailed(str(error), Fault.URL) from error
    if not home.collections and not home.url:
        raise TrialFailed(nothing, Fault.URL)
