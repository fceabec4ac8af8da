"""Search the web by the service that the operator chose: SearXNG, Brave or Tavily, a request each.

SearXNG: docs.searxng.org/dev/search_api.html, with `json` among its `search.formats`. Brave:
api-dashboard.search.brave.com (web search). Tavily: docs.tavily.com (POST /search).
"""

import html
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError, field_validator

from core.tools.place_access import KnownPlace
from onevalet import HttpResponse, ToolExecutionContext, ToolFailed, ToolRetry, gettext, gettext_noop, tool

SETTING = "search"
"""The setting that names the service; the tool is offered if it is set."""
_DOING = gettext_noop("Searching the web…")
_DIGITS = 3
"""Of a degree: the service learns where the person is to a hundred metres."""
_MAX_QUERY = 400
"""Characters that Brave and Tavily take."""
_FOUND = 8
_BRAVE, _TAVILY = "https://api.search.brave.com", "https://api.tavily.com"
_TAGS = re.compile(r"<[^>]{0,200}>")


class _Hit(BaseModel):
    url: str
    title: str = ""
    content: str = ""
    date: str = ""

    @field_validator("title", "content", "date", mode="before")
    @classmethod
    def plain(cls, value: object) -> str:
        return " ".join(html.unescape(_TAGS.sub("", str(value or ""))).split())[:600]


class _Hits(BaseModel):
    results: list[dict[str, Any]] = []


class _Brave(BaseModel):
    web: _Hits = _Hits()


@tool(name="web_search", effect="read", outside=True, needs_setting=SETTING, timeout=30, doing=_DOING)
async def web_search(query: str, context: ToolExecutionContext) -> str:
    """Search the web; read_page then reads the pages found.

    Args:
        query: A few words, nothing private or secret.
    """
    return await _search(query, context, None)


@tool(
    name="search_nearby",
    effect="read",
    group="places",
    outside=True,
    own_words=True,
    needs_setting=SETTING,
    timeout=30,
    doing=_DOING,
)
async def search_nearby(query: str, context: ToolExecutionContext) -> str:
    """Search the web for something near the person, only if they ask for it; the service learns where they are.

    Args:
        query: The thing to find, such as "open pharmacy", without a place.
    """
    here = await context.place.here()
    minutes = round(here.age(context.clock.now()).total_seconds() / 60)
    within = "" if here.accuracy is None else f", known to {round(here.accuracy)} m"
    found = await _search(query, context, here)
    return f"Near where the person was {minutes} min ago{within}:\n\n{found}"


async def _search(query: str, context: ToolExecutionContext, here: KnownPlace | None) -> str:
    query = " ".join(query.split())
    if not 0 < len(query) <= _MAX_QUERY:
        raise ToolRetry(f"A query has 1 to {_MAX_QUERY} characters.")
    search = _SERVICES[context.settings[SETTING]]
    try:
        hits = [_Hit.model_validate(hit) for hit in (await search(query, context, here))[:_FOUND]]
    except ValidationError as error:
        raise ToolFailed(gettext("The search service gave an answer that cannot be read.")) from error
    found = [hit for hit in hits if hit.url.startswith(("https://", "http://"))]
    if not found:
        return "Nothing was found."
    return "\n\n".join(
        "\n".join(line for line in (f"{number}. {hit.title}", hit.url, hit.date[:10], hit.content) if line)
        for number, hit in enumerate(found, start=1)
    )


async def _searxng(query: str, context: ToolExecutionContext, here: KnownPlace | None) -> list[dict[str, Any]]:
    language = context.language[:2] if context.language else "all"
    asked = {"q": _near(query, here), "format": "json", "language": language}
    answer = await _ask(context, "GET", f"{context.settings['search_url']}/search?{urlencode(asked)}")
    return [hit | {"date": hit.get("publishedDate")} for hit in _Hits.model_validate_json(answer.body).results[:_FOUND]]


async def _brave(query: str, context: ToolExecutionContext, here: KnownPlace | None) -> list[dict[str, Any]]:
    url = f"{context.settings.get('search_url') or _BRAVE}/res/v1/web/search?{urlencode({'q': query, 'count': _FOUND})}"
    headers = {"Accept": "application/json", "X-Subscription-Token": context.settings.get("search_key", "")}
    if here is not None:  # it has headers for the client's place
        headers |= {"X-Loc-Lat": f"{here.latitude:.{_DIGITS}f}", "X-Loc-Long": f"{here.longitude:.{_DIGITS}f}"}
    answer = await _ask(context, "GET", url, headers=headers)
    found = _Brave.model_validate_json(answer.body).web.results
    return [hit | {"content": hit.get("description"), "date": hit.get("page_age")} for hit in found]


async def _tavily(query: str, context: ToolExecutionContext, here: KnownPlace | None) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {context.settings.get('search_key', '')}"}
    url = f"{context.settings.get('search_url') or _TAVILY}/search"
    asked = {"query": _near(query, here), "max_results": _FOUND}
    answer = await _ask(context, "POST", url, headers=headers, json=asked)
    found = _Hits.model_validate_json(answer.body).results
    return [hit | {"date": hit.get("published_date")} for hit in found]


def _near(query: str, here: KnownPlace | None) -> str:
    """Return a query for a service that takes places as words only."""
    return query if here is None else f"{query} near {here.latitude:.{_DIGITS}f}, {here.longitude:.{_DIGITS}f}"


async def _ask(context: ToolExecutionContext, method: str, url: str, **more: Any) -> HttpResponse:
    answer = await context.http.request(method, url, **more)
    if answer.status in (401, 402, 403, 432, 433):
        context.log.warning("search_refused", status=answer.status)
        raise ToolFailed(gettext("The search service refuses me: my operator has to check its settings."))
    if answer.status != 200:
        raise ToolFailed(
            gettext("The search service does not work at the moment (status {status}).", status=answer.status)
        )
    return answer


_SERVICES: dict[str, Callable[[str, ToolExecutionContext, KnownPlace | None], Awaitable[list[dict[str, Any]]]]] = {
    "searxng": _searxng,
    "brave": _brave,
    "tavily": _tavily,
}
