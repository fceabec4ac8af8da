"""The pages on which an account is connected: its person, its service, and the result."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from abilities.accounts.connecting import Connected
from abilities.accounts.kinds import KINDS, kinds_of, may
from abilities.accounts.links import PATH, ConnectLink
from abilities.accounts.types import Service
from channels.http.pages.templates import Templates
from core.credentials.types import Ability
from core.language.catalogue import gettext, listed

_TEMPLATES = Templates(Path(__file__).parent / "templates")


@dataclass(frozen=True, slots=True)
class Typed:
    """Entries of an earlier try, and the problem with them. `wrong`: the field's name; empty if no single field is."""

    values: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A link as a page shows it. `token` is its own end; `proof` ties the form to the browser.

    `has` holds the abilities that its account has already.
    """

    link: ConnectLink
    token: str = field(repr=False)
    proof: str = field(repr=False)
    typed: Typed = field(default_factory=Typed)
    has: frozenset[Ability] = frozenset()

    @property
    def address(self) -> str:
        return f"{PATH}/{self.token}"

    @property
    def whose(self) -> str:
        """Return the name and the chat of the person for whom an account is connected."""
        where = f"{self.link.channel} {self.link.sender}".strip()
        if self.link.person and where:
            return f"{self.link.person} ({where})"
        return self.link.person or where or gettext("you")


@dataclass(frozen=True, slots=True)
class _Choice:
    """A service, or a kind of abilities, between which a person chooses."""

    name: str
    title: str
    about: str
    ticked: bool = False


def choice_page(shown: Shown, services: Sequence[Service], *, status: int) -> web.Response:
    """Return the page on which a person chooses a service."""
    return _TEMPLATES.page("choice.html", {"shown": shown, "choices": [*map(_choice, services)]}, status=status)


def consent_page(shown: Shown, service: Service, form_target: str, *, status: int) -> web.Response:
    """Return the page that lists the rights to request from an OAuth service, with the button that leads there."""
    wanted, has = shown.link.abilities & service.offers, shown.has & service.offers
    granted = service.granted_for(wanted | shown.has) if wanted else frozenset()
    known = has if has - wanted else frozenset()
    values = {
        "shown": shown,
        "service": service.name,
        "label": gettext(service.label),
        "wanted": sorted(wanted),
        "choices": [] if wanted else [*_kinds(shown, service)],
        "has": may(known),
        "asked": may(granted - known),
    }
    return _TEMPLATES.page("consent.html", values, status=status, form_target=form_target)


def password_page(shown: Shown, service: Service, *, status: int) -> web.Response:
    """Return the page that asks for the password of a mailbox or of a calendar server."""
    values = {"shown": shown, "service": service.name, "may": may(service.offers)}
    return _TEMPLATES.page("password.html", values, status=status)


def done_page(connected: Connected) -> web.Response:
    """Return the page that names the connected account."""
    account = connected.account
    return _TEMPLATES.page("connected.html", {"account": account, "may": may(account.abilities)})


def problem_page(problem: str, *, token: str = "") -> web.Response:
    """Return the page that says why nothing was connected. `token`: the token of the link for another try."""
    values = {"problem": problem, "again": f"{PATH}/{token}" if token else ""}
    return _TEMPLATES.page("not_connected.html", values, status=409)


def over_page(problem: str, *, status: int) -> web.Response:
    """Return the page of a link that can do nothing more, whatever it did before."""
    return _TEMPLATES.page("over.html", {"problem": problem}, status=status)


def _choice(service: Service) -> _Choice:
    """Return a service with the kinds of data of its accounts, or with the way of opening them."""
    about = listed(kinds_of(service.offers)) if service.client else gettext("with a password or an app password")
    return _Choice(service.name, _capital(gettext(service.label)), about)


def _kinds(shown: Shown, service: Service) -> Iterator[_Choice]:
    for name, group in KINDS.items():
        if offered := group & service.offers:
            yield _Choice(name, _capital(listed(kinds_of(offered))), "; ".join(may(offered)), bool(offered & shown.has))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
