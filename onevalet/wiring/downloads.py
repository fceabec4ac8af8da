"""Downloads by links, which `web` serves. Light: the maker of archives is imported with the first download."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aiohttp import web

from channels.http.files import FileRoutes
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.files.store import FileStore
from onevalet.settings import Settings
from onevalet.wiring.file_store import build_links
from operations.tenants.exports import Archives, ExportRoutes
from operations.tenants.links import ExportLinks

if TYPE_CHECKING:  # unused by `web`
    from core.tools.account_access import PeoplesAccounts


def download_routes(
    settings: Settings,
    store: FileStore,
    credentials: CredentialStore,
    accounts: "PeoplesAccounts | None",
    clock: Clock,
) -> Sequence[web.RouteDef]:
    """Return the routes to people's files and archives; without PUBLIC_URL no links exist."""

    def load() -> Archives:
        from onevalet.wiring.tenants import build_exporter

        return build_exporter(store.database, store, clock, credentials, accounts)

    keys = credentials.keys
    exports = ExportRoutes(ExportLinks(store.database, settings.public_url, keys), load, clock)
    return [*FileRoutes(store, build_links(settings, keys), clock).routes(), *exports.routes()]
