"""The shared parts of all pages of the console: the visit, the template, and the redirect after a form."""

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from urllib.parse import urlencode
from weakref import WeakSet

from aiohttp import web

from channels.http.middleware import read_form
from core.db.database import Database
from core.queue.wakeups import Wakeups
from operations.console.access import NothingHere
from operations.console.actions import Actions
from operations.console.budgets import ShownBudgets
from operations.console.live import Doing, nothing_told
from operations.console.reading.counts import count_open
from operations.console.rendering import HEADERS, Renderer
from operations.console.services import PersonServices
from operations.console.stores import Stores
from operations.console.texts import Texts
from operations.console.visits import ConsoleVisits, SignInNeeded, Visit

type WaysIn = Callable[[], Mapping[str, str]]
"""Returns the channels that monitor their own reception, each with its problem or an empty text."""
type Page[Pages] = Callable[[Pages, web.Request, Visit], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Kit:
    """The parts from which pages are built."""

    visits: ConsoleVisits
    stores: Stores
    texts: Texts
    wakeups: Wakeups
    actions: Actions
    renderer: Renderer
    services: PersonServices
    budgets: ShownBudgets
    ways_in: WaysIn
    doing: Doing
    said: Mapping[str, str]
    """Sentences of a person's page after a redirect from an ability's page, by the word in the address."""

    @classmethod
    def build(
        cls,
        visits: ConsoleVisits,
        database: Database,
        texts: Texts,
        wakeups: Wakeups,
        services: PersonServices,
        budgets: ShownBudgets | None = None,
        ways_in: WaysIn = dict,
        doing: Doing = nothing_told,
        renderer: Renderer | None = None,
        said: Mapping[str, str] = MappingProxyType({}),
    ) -> "Kit":
        """Build a kit from the installation's parts."""
        return cls(
            visits,
            Stores.build(database, wakeups, texts.make_id, visits.sign_in.keys, services.only_send),
            texts,
            wakeups,
            Actions(visits.clock, texts.make_id),
            renderer or Renderer(),
            services,
            budgets or ShownBudgets(),
            ways_in,
            doing,
            said,
        )

    def now(self) -> datetime:
        return self.visits.clock.now()

    def machine_now(self) -> datetime:
        return self.visits.clock.machine_now()

    def page(self, template: str, visit: Visit, *, status: int = 200, **values: object) -> web.Response:
        """Return a page. `values` are the names that its template uses; `version` among them makes it live."""
        if visit.live:
            return web.Response(text=str(values.get("version", "")))
        return self.renderer.page(template, visit, self.visits.clock, values, status=status)

    def nothing(self, visit: Visit) -> web.Response:
        """Return the answer to `NothingHere`: the same for a missing page and for a page of another person."""
        return self.page(
            "problem.html",
            visit,
            status=404,
            here="",
            title="Nothing is here",
            sentence="Nothing is known by this address, or it is not yours to see.",
        )

    def sign_in(self, title: str, *, token: str = "", query: str = "", status: int = 200) -> web.Response:
        """Return the page for a visitor without a session. `query` holds the target of the link."""
        return self.renderer.sign_in(title, token, query, status)


class Pages:
    """Some pages of the console. A subclass has the handlers, and `routes` names their addresses."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit

    def routes(self) -> Sequence[web.RouteDef]:
        """Return the addresses of these pages."""
        raise NotImplementedError


type MakePages = Callable[[Kit], Pages]
"""Creates pages from the kit, for example their class."""

LOOK = web.RequestKey("look", Visit)
"""The visit of a request for the version of a page: that of the request by which an open page is updated."""
_signed_in = WeakSet[Callable[..., object]]()


def signed_in[Served: Pages](
    page: Page[Served],
) -> Callable[[Served, web.Request], Awaitable[web.StreamResponse]]:
    """Serve a page to a visitor with a session, and to any other the way to sign in."""

    @functools.wraps(page)
    async def answer(pages: Served, request: web.Request) -> web.StreamResponse:
        visit = request.get(LOOK)
        if visit is None:
            try:
                visit = await pages.kit.visits.visit(request)
            except SignInNeeded:
                return pages.kit.sign_in("Sign in", status=401)
            if request.method == "GET":
                visit = replace(visit, counts=await count_open(visit.scope))
        try:
            return await page(pages, request, visit)
        except NothingHere:
            return pages.kit.nothing(visit)

    _signed_in.add(answer)
    return answer


def asks_who_it_is(route: web.RouteDef) -> bool:
    """Return whether a page is only for visitors with a session, as marked by `signed_in`."""
    return getattr(route.handler, "__func__", None) in _signed_in


async def entered(request: web.Request) -> dict[str, str]:
    """Return the texts that a form sent, their lines ended as ours are."""
    return {name: value.replace("\r\n", "\n") for name, value in (await read_form(request)).items()}


async def entered_all(request: web.Request, name: str) -> list[str]:
    """Return all texts that a form sent under a name."""
    return (await read_form(request)).getall(name, [])


def read_number(text: str) -> int:
    """Return the number in a form or an address; 0 if it is not a number."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 16 else 0


def lead_to(path: str, **query: str) -> web.Response:
    """Answer a form: the browser opens a page next, which a reload does not send again."""
    address = f"{path}?{urlencode(query)}" if query else path
    return web.Response(status=303, headers={**HEADERS, "Location": address})
