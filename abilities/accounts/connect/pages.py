"""What the pages say: for whom an account is connected, to what, and how it went. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from abilities.accounts.connect.fields import Typed, dav_fields, mailbox_fields
from abilities.accounts.connecting import Connected
from abilities.accounts.kinds import KINDS, kinds_of, may
from abilities.accounts.links import PATH, ConnectLink
from abilities.accounts.types import Service
from channels.http.html import NOTHING, Html, items, joined, page, tag
from core.credentials.types import Ability
from core.language.catalogue import gettext, listed


@dataclass(frozen=True, slots=True)
class Shown:
    """A link as a page shows it. `token` is its own end; `proof` ties the form to the browser.

    `has` is what the account that it is about lets us do already.
    """

    link: ConnectLink
    token: str = field(repr=False)
    proof: str = field(repr=False)
    typed: Typed = field(default_factory=Typed)
    has: frozenset[Ability] = frozenset()


def choice_page(shown: Shown, services: Sequence[Service]) -> str:
    """Return the page on which a person chooses a service."""
    title = gettext("Connect an account")
    asked = tag("p", gettext("Which account do you want to connect?"))
    return page(shown.link.language, title, _whose(shown), asked, _form(shown, "", *map(_choice, services)))


def consent_page(shown: Shown, service: Service) -> str:
    """Return the page that says what an OAuth service is asked to allow, with the button that leads there."""
    label, wanted = gettext(service.label), shown.link.abilities & service.offers
    asked, ticks = _asked(shown, service, wanted), [_hidden(one) for one in sorted(wanted)]
    if service.offers and not wanted:
        asked = tag("p", gettext("What may I do with it?"), id="asked")
        ticks = [tag("div", *_ticks(shown, service), role="group", aria_labelledby="asked")]
    go = tag("button", gettext("Continue to {service}", service=label), name="go", value="on")
    stays = gettext("Your password stays with {service}. You can end this at any time.", service=label)
    return page(
        shown.link.language,
        gettext("Connect {service}", service=label),
        _whose(shown),
        _problem(shown),
        asked,
        _form(shown, service.name, *ticks, go),
        tag("p", stays, class_="soft"),
    )


def password_page(shown: Shown, service: Service) -> str:
    """Return the page that asks for the password of a mailbox or of a calendar server."""
    is_mail = service.name == "email"
    fields = mailbox_fields(shown.typed) if is_mail else dav_fields(shown.typed)
    how = gettext(
        "Use an app password if your provider has them. It is tried at once, stored encrypted, and never shown."
    )
    go = tag("button", gettext("Try and connect"), name="go", value="on")
    return page(
        shown.link.language,
        gettext("Connect a mailbox") if is_mail else gettext("Connect calendars and contacts"),
        _whose(shown),
        tag("p", gettext("With it I may:")),
        items(may(service.offers)),
        _problem(shown),
        _form(shown, service.name, *fields, tag("p", how, class_="soft"), go),
    )


def done_page(connected: Connected, language: str | None) -> str:
    """Return the page that says what was connected."""
    account = connected.account
    able = joined(tag("p", gettext("I may now:")), items(may(account.abilities))) if account.abilities else NOTHING
    return page(
        language,
        gettext("Connected"),
        tag("p", account.address or account.name, class_="good"),
        able,
        tag("p", gettext("You can close this page and go back to the chat.")),
        tag("p", gettext("To undo it, write there: {words}", words=f"disconnect {account.name}"), class_="soft"),
    )


def problem_page(language: str | None, problem: str, *, token: str = "") -> str:
    """Return the page that says why nothing was connected. `token`: of the link by which it can be tried again."""
    again = tag("p", tag("a", gettext("Try again"), href=f"{PATH}/{token}")) if token else NOTHING
    back = tag("p", gettext("Nothing was stored. You can close this page and go back to the chat."), class_="soft")
    return page(language, gettext("Not connected"), tag("p", problem, class_="bad", role="alert"), again, back)


def over_page(language: str | None, problem: str) -> str:
    """Return the page of a link that can do nothing more, whatever it did before."""
    kept = gettext("What you connected before stays connected: write “accounts” in the chat to see it.")
    return page(language, gettext("This link no longer works"), tag("p", problem, role="alert"), tag("p", kept))


def _asked(shown: Shown, service: Service, wanted: frozenset[Ability]) -> Html:
    """Say what is asked for: all that its scopes allow, and apart from it what is allowed already."""
    label, granted = gettext(service.label), service.granted_for(wanted | shown.has)
    if not service.offers:
        return tag("p", gettext("I ask {service} to let me use the tools that it has for you.", service=label))
    has = shown.has & service.offers
    if not has - wanted:
        return joined(tag("p", gettext("I ask {service} to let me:", service=label)), items(may(granted)))
    return joined(
        tag("p", gettext("It lets me already:")),
        items(may(has)),
        tag("p", gettext("For what you asked I need more. I ask {service} to let me as well:", service=label)),
        items(may(granted - has)),
    )


def _choice(service: Service) -> Html:
    """Return the button of a service, with what its accounts have, or how they are opened."""
    has = listed(kinds_of(service.offers))
    about = has if service.client else gettext("with a password or an app password")
    return tag("button", _named(gettext(service.label), about), class_="other", name="choose", value=service.name)


def _hidden(ability: Ability) -> Html:
    return tag("input", type="hidden", name=ability.value, value="on")


def _ticks(shown: Shown, service: Service) -> Sequence[Html]:
    offered = {name: group & service.offers for name, group in KINDS.items()}
    return [_tick(name, group, ticked=bool(group & shown.has)) for name, group in offered.items() if group]


def _tick(name: str, abilities: frozenset[Ability], *, ticked: bool) -> Html:
    box = tag("input", type="checkbox", name=name, value="on", checked=ticked)
    return tag("label", box, _named(listed(kinds_of(abilities)), "; ".join(may(abilities))), class_="tick")


def _named(name: str, about: str) -> Html:
    return tag("span", tag("b", name[:1].upper() + name[1:]), tag("small", about))


def _whose(shown: Shown) -> Html:
    link = shown.link
    where = f"{link.channel} {link.sender}".strip()
    who = f"{link.person} ({where})" if link.person and where else link.person or where or gettext("you")
    warning = gettext("Go on only if that is you and you have just asked for it.")
    whom = tag("p", gettext("It will be connected for: {person}", person=who))
    return tag("div", whom, tag("p", warning, class_="soft"), class_="whose")


def _problem(shown: Shown) -> Html:
    """Say what is wrong, unless it is said beside its field."""
    typed = shown.typed
    return tag("p", typed.problem, class_="bad", role="alert") if typed.problem and not typed.wrong else NOTHING


def _form(shown: Shown, service: str, *inside: str) -> Html:
    hidden = joined(
        tag("input", type="hidden", name="proof", value=shown.proof),
        tag("input", type="hidden", name="service", value=service),
    )
    return tag("form", hidden, *inside, method="post", action=f"{PATH}/{shown.token}", autocomplete="off")
