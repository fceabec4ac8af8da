"""The console's pages: its menu, and the filters and times of its templates."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from http import HTTPStatus
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from zoneinfo import ZoneInfo

from aiohttp import web
from markupsafe import Markup, escape

from channels.http.pages.templates import Filters, Templates, page_headers
from core.clock import Clock
from core.language.money import Currency
from operations.console.access import Viewer
from operations.console.visits import Visit

HEADERS = page_headers(scripts=True)
PLACES = (
    ("conversations", "Conversations"),
    ("waiting", "Waiting"),
    ("deliveries", "Deliveries"),
    ("people", "People"),
    ("cost", "Cost"),
    ("health", "Health"),
)
"""The pages in the order of the menu: their address below `/console/`, and their title."""

_DOLLARS = Currency()


class Renderer:
    """Render templates for a visit. `front`, `menu` and `templates` are those of abilities, as `ConsolePages` says."""

    def __init__(
        self,
        front: Sequence[tuple[str, str]] = (),
        menu: Sequence[tuple[str, str]] = (),
        templates: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        filters: Filters = {
            "ms": milliseconds,
            "money": money,
            "channel": channel_label,
            "markdown": markdown,
            "plain": plain,
        }
        self._templates = Templates(Path(__file__).parent / "templates", further=templates, filters=filters)
        self._places, self._further = (*PLACES[:2], *front, *PLACES[2:]), sorted(menu, key=itemgetter(1))

    def page(
        self, template: str, visit: Visit, clock: Clock, values: Mapping[str, object], *, status: int = 200
    ) -> web.Response:
        """Return a page as a response. `values` are the names that its template uses.

        `age` takes times from the database's clock; `ago` and `until` take times from people's clock, which `dev` may
        have moved.
        """
        zone = zone_of(visit.viewer)
        now, machine_now = clock.now(), clock.machine_now()
        names = {
            "visit": visit,
            "now": now,
            "machine_now": machine_now,
            "refused": status != HTTPStatus.OK,
            "moved": moved(now, machine_now),
            "places": [place for place in self._places if place[0] != "health" or visit.viewer.operator],
            "further": self._further,
            "at": lambda moment: in_zone(moment, zone, now),
            "age": lambda moment: ago(moment, machine_now),
            "ago": lambda moment: ago(moment, now),
            "until": lambda moment: until(moment, now),
            "due": lambda moment: due(moment, zone, now),
            "clock": lambda moment: f"{moment.astimezone(zone):%H:%M}",
        }
        return self._templates.page(template, {**names, **values}, status=status, scripts=True)

    def sign_in(self, title: str, token: str, query: str, status: int) -> web.Response:
        """Return the page for a visitor without a session."""
        values = {"title": title, "token": token, "query": query}
        return self._templates.page("sign_in.html", values, status=status)


def moved(now: datetime, machine_now: datetime) -> str:
    """Return the difference between people's clock and the machine's, in words; empty if they agree to the minute."""
    apart = timedelta(seconds=round(abs(now - machine_now).total_seconds()))
    if apart < timedelta(minutes=1):
        return ""
    return f"{ago(now, now + apart)} {'ahead of' if now > machine_now else 'behind'}"


def markdown(text: str) -> Markup:
    """Return Markdown as HTML without any markup of its own; the plain source if it is nested too deeply."""
    from notify.email.html import body_html

    html = body_html(text)
    return Markup(html) if html else escape(text)  # noqa: S704 - the parser escapes all HTML in the text


def plain(text: str) -> str:
    """Return our own Markdown as plain text."""
    from notify.plain_markdown import to_plain

    return to_plain(text)


def until(moment: datetime, now: datetime) -> str:
    """Return the time until a moment, in its largest unit."""
    return ago(now, moment)


def zone_of(viewer: Viewer) -> tzinfo:
    return ZoneInfo(viewer.timezone) if viewer.timezone else UTC


def in_zone(moment: datetime, zone: tzinfo, now: datetime) -> str:
    """Return a moment in a zone: without the day if it is today's, without the year if it is this year's."""
    local, today = moment.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return f"{local:%H:%M:%S}"
    return f"{local:%-d %b %H:%M}" if local.year == today.year else f"{local:%-d %b %Y %H:%M}"


def due(moment: datetime, zone: tzinfo, now: datetime) -> str:
    """Return a planned moment, to the minute; with the day if it is not today's."""
    local, today = moment.astimezone(zone), now.astimezone(zone)
    return f"{local:%H:%M}" if local.date() == today.date() else in_zone(moment, zone, now)


def ago(moment: datetime, now: datetime) -> str:
    """Return the time since a moment, in its largest unit."""
    passed = max(now - moment, timedelta())
    for unit, name in ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min")):
        if passed >= unit:
            return f"{passed // unit} {name}"
    return f"{int(passed.total_seconds())} s"


def milliseconds(value: float) -> str:
    """Return a span that is given in milliseconds as people read it."""
    if value < 1000:
        return f"{value:.0f} ms"
    return f"{value / 1000:.1f} s" if value < 60_000 else f"{value / 60_000:.1f} min"


def money(dollars: float, currency: Currency = _DOLLARS) -> str:
    """Return an amount of US dollars in a currency; small amounts with four decimals."""
    value, sign = dollars * float(currency.per_dollar), "$" if currency.code == "USD" else f"{currency.code} "
    return f"{sign}{value:.2f}" if value >= 1 or not value else f"{sign}{value:.4f}"


def channel_label(name: str) -> str:
    return name.upper() if name in ("mcp", "sms") else name.capitalize()
