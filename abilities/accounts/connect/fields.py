"""The fields into which people type how to reach their servers; what was typed stands there again. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from channels.http.html import NOTHING, Html, joined, tag
from core.language.catalogue import gettext, gettext_noop

_SECURITY = (
    ("implicit", "TLS"),
    ("starttls", "STARTTLS"),
    ("none", gettext_noop("none (this machine only)")),
)
_ALERT = "problem"
"""The id of the sentence that says what is wrong; a page has one at most."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed before, and what is wrong about it. `wrong`: the field's name; empty where it is none's alone."""

    values: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    wrong: str = ""


def mailbox_fields(typed: Typed) -> Sequence[Html]:
    """Return the fields of a mailbox."""
    return (
        _field(typed, "address", gettext("Email address"), type="email", autocomplete="email", required=True),
        _field(typed, "user", gettext("Login, if it is not the address"), type="text", autocomplete="username"),
        _password(typed),
        _server(typed, "imap", gettext("Server for reading (IMAP)"), "993"),
        _server(typed, "smtp", gettext("Server for sending (SMTP)"), "465"),
    )


def dav_fields(typed: Typed) -> Sequence[Html]:
    """Return the fields of a server of calendars and contacts."""
    address = gettext("Address of the server (CalDAV or CardDAV)")
    return (
        _field(typed, "url", address, type="url", placeholder="https://dav.example.com", required=True),
        _field(typed, "user", gettext("Login"), type="text", autocomplete="username", required=True),
        _password(typed),
    )


def _field(typed: Typed, name: str, label: str, **attributes: str | bool) -> Html:
    box = _box(typed, name, id=name, value=typed.values.get(name, ""), maxlength="300", **attributes)
    return joined(tag("label", label, for_=name), _alert(typed, name), box)


def _password(typed: Typed) -> Html:
    """Return the field that is never filled in by us."""
    box = _box(typed, "password", id="password", type="password", autocomplete="off", maxlength="300", required=True)
    return joined(tag("label", gettext("Password or app password"), for_="password"), _alert(typed, "password"), box)


def _server(typed: Typed, name: str, label: str, port: str) -> Html:
    host, at = f"{name}_host", f"{name}_port"
    chosen = typed.values.get(f"{name}_tls", "implicit")
    options = [tag("option", gettext(words), value=key, selected=key == chosen) for key, words in _SECURITY]
    row = tag(
        "div",
        _part(
            gettext("Server"),
            _box(
                typed,
                host,
                value=typed.values.get(host, ""),
                type="text",
                maxlength="253",
                placeholder=f"{name}.example.com",
                required=name == "imap",
            ),
        ),
        _part(
            gettext("Port"),
            _box(typed, at, value=typed.values.get(at, port), type="text", inputmode="numeric", maxlength="5"),
        ),
        _part(gettext("Protection"), tag("select", *options, name=f"{name}_tls")),
        class_="row",
    )
    return tag("fieldset", tag("legend", label), _alert(typed, host), _alert(typed, at), row)


def _part(label: str, box: Html) -> Html:
    return tag("label", tag("span", label), box, class_="part")


def _box(typed: Typed, name: str, **attributes: str | bool) -> Html:
    """Return a box to type into; the one that is wrong says so, and has the cursor."""
    if name == typed.wrong:
        attributes |= {"aria_invalid": "true", "aria_describedby": _ALERT, "autofocus": True}
    return tag("input", name=name, **attributes)


def _alert(typed: Typed, name: str) -> Html:
    if name != typed.wrong or not typed.problem:
        return NOTHING
    return tag("p", typed.problem, id=_ALERT, class_="bad", role="alert")
