"""A small site outside, whose pages a test writes, and search services that answer as the real ones do."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from aiohttp import web

from core.http.guarded_client import GuardedClient
from core.json_types import Json

KEY = "search_secret"


@dataclass(slots=True)
class Site:
    """`pages` by path: text, bytes, a whole response, or what makes one.

    `asked` are the paths that came, with their queries.
    """

    pages: dict[str, str | bytes | web.StreamResponse | Callable[[], Awaitable[web.StreamResponse]]] = field(
        default_factory=dict
    )
    asked: list[str] = field(default_factory=list)
    queries: list[Json] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    """Those in which SearXNG is to search."""
    headers: list[Mapping[str, str]] = field(default_factory=list)
    found: list[dict[str, str]] = field(default_factory=list)
    """What a search finds: url, title, content."""
    failing: int = 0
    """The status with which searches are refused."""
    url: str = ""
    kind: str = "text/html; charset=utf-8"

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")


@asynccontextmanager
async def open_site() -> AsyncIterator[Site]:
    """Serve a site on a port of its own."""
    site = Site()
    app = web.Application()
    app.router.add_get("/search", partial(_searxng, site))
    app.router.add_get("/res/v1/web/search", partial(_brave, site))
    app.router.add_post("/search", partial(_tavily, site))
    app.router.add_get("/{path:.*}", partial(_page, site))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield site
    finally:
        await runner.cleanup()


@asynccontextmanager
async def guarded(site: Site) -> AsyncIterator[GuardedClient]:
    """Yield a client that reaches this site, as if an operator had named it."""
    client = GuardedClient(allowed_hosts=[site.host])
    try:
        yield client
    finally:
        await client.close()


async def _page(site: Site, request: web.Request) -> web.StreamResponse:
    site.asked.append(request.raw_path)
    page = site.pages.get(request.path)
    if isinstance(page, web.StreamResponse):
        return page
    if callable(page):
        return await page()
    if page is None:
        return web.Response(status=404)
    body = page.encode() if isinstance(page, str) else page
    return web.Response(body=body, headers={"Content-Type": site.kind})


async def _searxng(site: Site, request: web.Request) -> web.Response:
    """Answer as SearXNG's search API: 403 in HTML where `json` is not among the formats of its settings."""
    if request.query.get("format") != "json" or site.failing:
        return web.Response(text="<h1>Forbidden</h1>", status=site.failing or 403, content_type="text/html")
    site.queries.append(request.query["q"])
    site.languages.append(request.query["language"])
    results: list[Json] = [
        {**hit, "engine": "duckduckgo", "engines": ["duckduckgo"], "score": 1.0, "publishedDate": None}
        for hit in site.found
    ]
    empty: list[Json] = []
    answer: dict[str, Json] = {"query": request.query["q"], "number_of_results": 0, "results": results}
    answer |= dict.fromkeys(("answers", "corrections", "infoboxes", "suggestions"), empty)
    return web.json_response(answer | {"unresponsive_engines": [["google", "timeout"]]})


async def _brave(site: Site, request: web.Request) -> web.Response:
    """Answer as Brave's web search, which marks words in titles and leaves `web` out where nothing is found."""
    if request.headers.get("X-Subscription-Token") != KEY or site.failing:
        error: Json = {"code": "SUBSCRIPTION_TOKEN_INVALID", "status": 422, "detail": "The token is invalid."}
        return web.json_response({"type": "ErrorResponse", "error": error}, status=site.failing or 422)
    if not 1 <= int(request.query["count"]) <= 20:
        return web.json_response({"type": "ErrorResponse"}, status=422)
    site.headers.append(request.headers)
    site.queries.append(request.query["q"])
    answer: dict[str, Json] = {"type": "search", "query": {"original": request.query["q"]}}
    results: list[Json] = [
        {
            "type": "search_result",
            "url": hit["url"],
            "title": f"<strong>{hit['title']}</strong>",
            "description": f"<strong>{hit['content']}</strong> &amp; more",
            "page_age": "2026-11-02T08:00:00",
        }
        for hit in site.found
    ]
    return web.json_response(answer | ({"web": {"type": "search", "results": results}} if results else {}))


async def _tavily(site: Site, request: web.Request) -> web.Response:
    """Answer as Tavily's search endpoint."""
    if request.headers.get("Authorization") != f"Bearer {KEY}" or site.failing:
        detail: Json = {"error": "Unauthorized: missing or invalid API key."}
        return web.json_response({"detail": detail}, status=site.failing or 401)
    asked = await request.json()
    site.queries.append(asked["query"])
    results: list[Json] = [{**hit, "score": 0.9, "raw_content": None} for hit in site.found]
    answer: dict[str, Json] = {"query": asked["query"], "results": results, "response_time": 1.1, "request_id": "1"}
    return web.json_response(answer | dict.fromkeys(("answer", "follow_up_questions"), None) | {"images": []})
