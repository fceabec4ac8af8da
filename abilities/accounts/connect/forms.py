"""A person's entries on the pages, read as the credentials that are stored. Pure."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from abilities.accounts.kinds import KINDS
from abilities.accounts.types import Service
from core.credentials.types import Ability
from core.json_types import JsonObject
from core.language.catalogue import gettext

_USUAL = {"imap": 993, "smtp": 465}
_INSIDE = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Names outside the public internet (RFC 6761, 6762, 8375)."""


class FormProblem(ValueError):
    """Something is missing or wrong; the message is for the person. `wrong`: the field's name."""

    def __init__(self, message: str, wrong: str = "") -> None:
        super().__init__(message)
        self.wrong = wrong


def abilities_in(form: Mapping[str, str], service: Service) -> frozenset[Ability]:
    """Return the offered abilities that the person allows. Raises `FormProblem` if they allow none.

    A service that only its own tools know offers nothing that could be chosen here.
    """
    chosen = {ability for name, group in KINDS.items() if form.get(name) == "on" for ability in group}
    chosen |= {ability for ability in Ability if form.get(ability.value) == "on"}
    if service.offers and not chosen & service.offers:
        raise FormProblem(gettext("Choose at least one thing that I may do."))
    return frozenset(chosen & service.offers)


def mailbox_in(form: Mapping[str, str]) -> JsonObject:
    """Return a mailbox's credentials as `onevalet credentials set email` stores them. Raises `FormProblem`."""
    address = form.get("address", "").strip()
    if address.count("@") != 1 or not address.isprintable() or " " in address:
        raise FormProblem(gettext("“{text}” is not an email address", text=address[:100]), "address")
    imap, smtp = _server(form, "imap"), _server(form, "smtp")
    if imap is None and smtp is None:
        raise FormProblem(gettext("Name the server of your mailbox."), "imap_host")
    login: JsonObject = {"user": form.get("user", "").strip() or address, "password": _password(form), "from": address}
    return login | (smtp or {}) | ({"imap": imap} if imap else {})


def dav_in(form: Mapping[str, str]) -> JsonObject:
    """Return a login at a server of calendars and contacts. Raises `FormProblem`."""
    url = form.get("url", "").strip()
    if "://" not in url:
        url = f"https://{url}"
    if not url.startswith("https://") and not _is_inside(url):
        raise FormProblem(
            gettext("The address must begin with https://, or the password could be read on its way."), "url"
        )
    user = form.get("user", "").strip()
    if not user:
        raise FormProblem(gettext("Name your login at this server."), "user")
    return {"caldav": url, "carddav": url, "user": user, "password": _password(form)}


def typed_again(form: Mapping[str, str]) -> Mapping[str, str]:
    """Return the entries that a page shows again after an error: everything but the password."""
    return {name: value for name, value in form.items() if name not in ("password", "proof")}


def _is_inside(url: str) -> bool:
    """Return whether an unprotected address names a machine of a private network."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme != "http":
        return False
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_INSIDE)


def _password(form: Mapping[str, str]) -> str:
    password = form.get("password", "")
    if not password or not password.isprintable():
        raise FormProblem(gettext("Type the password."), "password")
    return password


def _server(form: Mapping[str, str], kind: str) -> JsonObject | None:
    host = form.get(f"{kind}_host", "").strip().lower()
    if not host:
        return None
    port, tls = form.get(f"{kind}_port", "").strip() or str(_USUAL[kind]), form.get(f"{kind}_tls", "implicit")
    if not port.isdecimal() or not 0 < int(port) < 65536 or tls not in ("implicit", "starttls", "none"):
        raise FormProblem(gettext("“{text}” is not a port number.", text=port[:20]), f"{kind}_port")
    if any(letter in host for letter in "/@?#\\ ") or not host.isprintable():
        raise FormProblem(gettext("“{text}” is not the name of a server.", text=host[:100]), f"{kind}_host")
    return {"host": host, "port": int(port), "tls": tls}
