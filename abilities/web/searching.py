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

from onevalet import HttpResponse, ToolExecutionContext, ToolFailed, ToolRetry, gettext, gettext_noop, tool

SETTING = "search"
"""The setting that names the service; the tool is offered if it is set."""
_DOING = gettext_noop("Searching the web…")
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
    """Search the web; read_page then reads what was found.

    Args:
        query: A few words, nothing private or secret.
    """
    query = " ".join(query.split())
    if not 0 < len(query) <= _MAX_QUERY:
        raise ToolRetry(f"A query has 1 to {_MAX_QUERY} characters.")
    search = _SERVICES[context.settings[SETTING]]
    try:
        hits = [_Hit.model_validate(hit) for hit in (await search(query, context))[:_FOUND]]
    except ValidationError as error:
        raise ToolFailed(gettext("The search service gave an answer that cannot be read.")) from error
    found = [hit for hit in hits if hit.url.startswith(("https://", "http://"))]
    if not found:
        return "Nothing was found."
    return "\n\n".join(
        "\n".join(line for line in (f"{number}. {hit.title}", hit.url, hit.date[:10], hit.content) if line)
        for number, hit in enumerate(found, start=1)
    )


async def _searxng(query: str, context: ToolExecutionContext) -> list[dict[str, Any]]:
    asked = {"q": query, "format": "json", "language": (context.language or "all")[:2]}
    if not context.language:
        asked["language"] = "all"
    answer = await _ask(context, "GET", f"{context.settings['search_url']}/search?{urlencode(asked)}")
    return [hit | {"date": hit.get("publishedDate")} for hit in _Hits.model_validate_json(answer.body).results[:_FOUND]]


async def _brave(query: str, context: ToolExecutionContext) -> list[dict[str, Any]]:
    url = f"{context.settings.get('search_url') or _BRAVE}/res/v1/web/search?{urlencode({'q': query, 'count': _FOUND})}"
    headers = {"Accept": "application/json", "X-Subscription-Token": context.settings.get("search_key", "")}
    answer = await _ask(context, "GET", url, headers=headers)
    found = _Brave.model_validate_json(answer.body).web.results
    return [hit | {"content": hit.get("description"), "date": hit.get("page_age")} for hit in found]


async def _tavily(query: str, context: ToolExecutionContext) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {context.settings.get('search_key', '')}"}
    url = f"{context.settings.get('search_url') or _TAVILY}/search"
    answer = await _ask(context, "POST", url, headers=headers, json={"query": query, "max_results": _FOUND})
    found = _Hits.model_validate_json(answer.body).results
    return [hit | {"date": hit.get("published_date")} for hit in found]


async def _ask(context: ToolExecutionContext, method: str, url: str, **more: Any) -> HttpResponse:
    answer = await context.http.request(method, url, **more)
    if answer.status in (401, 402, 403, 432, 433):
        context.log.warning("search_refused", status=answer.status)
        raise ToolFailed(gettext("The search service refuses me: my operator has to check its settings."))
    if answer.status != 200:
        raise ToolFailed(
            gettext("The search service cannot search at the moment (status {status}).", status=answer.status)
        )
    return answer


_SERVICES: dict[str, Callable[[str, ToolExecutionContext], Awaitable[list[dict[str, Any]]]]] = {
    "searxng": _searxng,
    "brave": _brave,
    "tavily": _tavily,
}
