"""Accounts that a password opens: the stored values of `email` and `caldav`, read as servers."""

from collections.abc import Mapping
from email.utils import parseaddr

from abilities.accounts.services import abilities_of
from abilities.accounts.types import Opened, Service
from core.json_types import Json, JsonObject

_PORTS = {"imap": 993, "smtp": 465}
_SCHEMES = {"implicit": "{}s", "starttls": "{}+starttls", "none": "{}"}


def open_password(service: Service, stored: JsonObject) -> Opened:
    """Return the access of stored credentials; servers without all values are left out."""
    login = str(stored.get("user") or "")
    servers = _mail_servers(stored) if service.name == "email" else _dav_servers(stored)
    address = parseaddr(str(stored.get("from") or login))[1] or login
    sender = str(stored.get("from") or "") or None
    abilities = abilities_of(servers) & service.offers
    return Opened(address, login, str(stored.get("password") or ""), servers, abilities, sender=sender)


def _mail_servers(stored: JsonObject) -> Mapping[str, str]:
    """Read both servers; the values of the outgoing server are at the top level, since it was once alone."""
    servers = {"smtp": _server("smtp", stored)}
    imap = stored.get("imap")
    if isinstance(imap, dict):
        servers["imap"] = _server("imap", imap)
    return {name: url for name, url in servers.items() if url}


def _dav_servers(stored: JsonObject) -> Mapping[str, str]:
    urls = {name: str(stored.get(name) or "") for name in ("caldav", "carddav")}
    return {name: url for name, url in urls.items() if url}


def _server(protocol: str, told: Mapping[str, Json]) -> str:
    """Return a server's URL; empty if the values are incomplete."""
    host, port = str(told.get("host") or ""), told.get("port") or _PORTS[protocol]
    tls = str(told.get("tls") or ("implicit" if port == _PORTS[protocol] else "starttls"))
    if not host or not isinstance(port, int) or tls not in _SCHEMES:
        return ""
    return f"{_SCHEMES[tls].format(protocol)}://{f'[{host}]' if ':' in host else host}:{port}"
