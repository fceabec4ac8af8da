"""What the pages say: for whom an account is connected, to what, and how it went. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from channels.connect.html import Html, items, joined, page, tag
from core.accounts.abilities import CALENDAR, CONTACTS, MAIL, may
from core.accounts.connecting import Connected
from core.accounts.links import PATH, ConnectLink
from core.accounts.types import Service
from core.credentials.types import Ability
from core.language.catalogue import gettext, gettext_noop

_SECURITY = (
    ("implicit", "TLS"),
    ("starttls", "STARTTLS"),
    ("none", gettext_noop("none (this machine only)")),
)
_GROUPS: tuple[tuple[str, frozenset[Ability]], ...] = (
    ("mail", MAIL),
    ("calendar", CALENDAR),
    ("contacts", CONTACTS),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A link as a page shows it. `token` is its own end; `proof` ties the form to the browser."""

    link: ConnectLink
    token: str = field(repr=False)
    proof: str = field(repr=False)
    problem: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)


def choice_page(shown: Shown, services: Sequence[Service]) -> str:
    """Return the page on which a person chooses a service."""
    buttons = [
        tag("button", gettext(service.label), class_="other", name="choose", value=service.name) for service in services
    ]
    title = gettext("Connect an account")
    asked = tag("p", gettext("Which account do you want to connect?"))
    return page(shown.link.language, title, _whose(shown), asked, _form(shown, "", *buttons))


def consent_page(shown: Shown, service: Service) -> str:
    """Return the page that says what an OAuth service is asked to allow, with the button that leads there."""
    label = gettext(service.label)
    wanted = shown.link.abilities & service.offers
    if wanted:
        asked = joined(tag("p", gettext("I ask {service} to let me:", service=label)), items(may(wanted)))
        ticks = joined(*(tag("input", type="hidden", name=one.value, value="on") for one in sorted(wanted)))
    else:
        asked = tag("p", gettext("What may I do with it?"))
        ticks = joined(*(_tick(name, group & service.offers) for name, group in _GROUPS if group & service.offers))
    return page(
        shown.link.language,
        gettext("Connect {service}", service=label),
        _whose(shown),
        _problem(shown),
        asked,
        _form(
            shown,
            service.name,
            ticks,
            tag("button", gettext("Continue to {service}", service=label), name="go", value="on"),
        ),
        tag(
            "p",
            gettext("Your password stays with {service}. You can end this at any time.", service=label),
            class_="soft",
        ),
    )


def password_page(shown: Shown, service: Service) -> str:
    """Ask for the password of a mailbox or of a calendar server."""
    is_mail = service.name == "email"
    fields = _mail_fields(shown) if is_mail else _dav_fields(shown)
    what = gettext("Connect a mailbox") if is_mail else gettext("Connect calendars and contacts")
    return page(
        shown.link.language,
        what,
        _whose(shown),
        _problem(shown),
        tag("p", gettext("With it I may:")),
        items(may(service.offers)),
        _form(shown, service.name, *fields, tag("button", gettext("Try and connect"), name="go", value="on")),
        tag(
            "p",
            gettext(
                "Use an app password if your provider has them. It is tried at once, stored encrypted, and never shown."
            ),
            class_="soft",
        ),
    )


def done_page(connected: Connected) -> str:
    """Say what was connected."""
    account = connected.account
    return page(
        connected.link.language,
        gettext("Connected"),
        tag("p", account.address or account.name, class_="good"),
        tag("p", gettext("I may now:")),
        items(may(account.abilities)),
        tag("p", gettext("You can close this page and go back to the chat.")),
        tag("p", gettext("To undo it, write there: {words}", words=f"disconnect {account.name}"), class_="soft"),
    )


def problem_page(language: str | None, problem: str, *, token: str = "") -> str:
    """Say why nothing was connected, and what to do. `token`: of the link by which it can be tried again."""
    again = tag("p", tag("a", gettext("Try again"), href=f"{PATH}/{token}")) if token else Html("")
    back = tag("p", gettext("Nothing was stored. You can close this page and go back to the chat."), class_="soft")
    return page(language, gettext("Not connected"), tag("p", problem, role="alert"), again, back)


def _whose(shown: Shown) -> Html:
    link = shown.link
    where = f"{link.channel} {link.sender}".strip()
    who = f"{link.person} ({where})" if link.person and where else link.person or where or gettext("you")
    warning = gettext("Go on only if that is you and you have just asked for it.")
    return joined(tag("p", gettext("It will be connected for: {person}", person=who)), tag("p", warning, class_="soft"))


def _problem(shown: Shown) -> Html:
    return tag("p", shown.problem, class_="bad", role="alert") if shown.problem else Html("")


def _form(shown: Shown, service: str, *inside: str) -> Html:
    hidden = joined(
        tag("input", type="hidden", name="proof", value=shown.proof),
        tag("input", type="hidden", name="service", value=service),
    )
    return tag("form", hidden, *inside, method="post", action=f"{PATH}/{shown.token}", autocomplete="off")


def _tick(name: str, abilities: frozenset[Ability]) -> Html:
    box = tag("input", type="checkbox", name=name, value="on")
    return tag("label", box, tag("span", "; ".join(may(abilities))), class_="tick")


def _mail_fields(shown: Shown) -> Sequence[Html]:
    return (
        _field(shown, "address", gettext("Email address"), type="email", autocomplete="email", required=True),
        _field(shown, "user", gettext("Login, if it is not the address"), type="text", autocomplete="username"),
        _password(),
        _server(shown, "imap", gettext("Server for reading (IMAP)"), "993"),
        _server(shown, "smtp", gettext("Server for sending (SMTP)"), "465"),
    )


def _dav_fields(shown: Shown) -> Sequence[Html]:
    return (
        _field(shown, "url", gettext("Address of the server (CalDAV or CardDAV)"), type="url", required=True),
        _field(shown, "user", gettext("Login"), type="text", autocomplete="username", required=True),
        _password(),
    )


def _field(shown: Shown, name: str, label: str, **attributes: str | bool) -> Html:
    box = tag("input", id=name, name=name, value=shown.typed.get(name, ""), maxlength="300", **attributes)
    return joined(tag("label", label, for_=name), box)


def _password() -> Html:
    """Return the field that is never filled in by us."""
    box = tag(
        "input", type="password", id="password", name="password", autocomplete="off", maxlength="300", required=True
    )
    return joined(tag("label", gettext("Password or app password"), for_="password"), box)


def _server(shown: Shown, name: str, label: str, port: str) -> Html:
    typed = shown.typed
    chosen = typed.get(f"{name}_tls", "implicit")
    options = [tag("option", gettext(words), value=key, selected=key == chosen) for key, words in _SECURITY]
    row = tag(
        "div",
        tag(
            "input",
            type="text",
            name=f"{name}_host",
            value=typed.get(f"{name}_host", ""),
            aria_label=label,
            placeholder=f"{name}.example.com",
            maxlength="253",
            required=name == "imap",
        ),
        tag(
            "input",
            type="text",
            name=f"{name}_port",
            value=typed.get(f"{name}_port", port),
            inputmode="numeric",
            aria_label=gettext("Port"),
            maxlength="5",
        ),
        tag("select", *options, name=f"{name}_tls", aria_label=gettext("Protection")),
        class_="row",
    )
    return tag("fieldset", tag("legend", label), row)
