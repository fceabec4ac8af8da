"""Accounts that an OAuth grant opens: the stored grant, read as servers and abilities."""

from urllib.parse import quote

from abilities.accounts.types import Opened, Service
from core.json_types import JsonObject


def open_granted(service: Service, stored: JsonObject) -> Opened:
    """Return the access of a stored grant at its service."""
    address, scopes = str(stored.get("address") or ""), stored.get("scopes")
    granted = [str(scope) for scope in scopes] if isinstance(scopes, list) else []
    servers = {name: url.replace("{address}", quote(address)) for name, url in service.servers.items()}
    return Opened(
        address, address, str(stored.get("access_token") or ""), servers, service.allowed_by(granted), bearer=True
    )
