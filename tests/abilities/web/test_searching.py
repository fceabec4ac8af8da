"""Searches by each service, against servers that answer as the real ones do."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from abilities.web.searching import search_nearby, web_search
from core.http.guarded_client import GuardedClient
from core.journal.types import Effect
from core.tools.place_access import KnownPlace, PlaceAccess
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry
from tests.core.builders import a_context
from tests.servers.site import KEY, Site, guarded, open_site

FERRY = {"url": "https://ferry.example/plan", "title": "The ferry", "content": "Leaves at nine"}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site() as site:
        yield site


@pytest.fixture
async def http(site: Site) -> AsyncIterator[GuardedClient]:
    async with guarded(site) as client:
        yield client


@pytest.fixture(params=["searxng", "brave", "tavily"])
def context(request: pytest.FixtureRequest, site: Site, http: GuardedClient) -> ToolExecutionContext:
    """Return a context whose operator has chosen a service."""
    settings = {"search": request.param, "search_key": KEY, "search_url": site.url}
    return replace(a_context(), http=http, settings=settings)


async def test_what_is_found_is_listed_with_its_address(site: Site, context: ToolExecutionContext) -> None:
    site.found = [FERRY, FERRY | {"url": "javascript:alert(1)"}]
    said = await web_search("  ferry   times ", context)
    assert said.splitlines()[:2] == ["1. The ferry", "https://ferry.example/plan"]
    assert "Leaves at nine" in said
    assert "javascript" not in said
    assert "<strong>" not in said
    assert site.queries == ["ferry times"]


async def test_searxng_searches_in_the_persons_language_or_in_all(site: Site, http: GuardedClient) -> None:
    here = replace(a_context(), http=http, settings={"search": "searxng", "search_url": site.url})
    for language in ("de-AT", None):
        await web_search("ferry", replace(here, language=language))
    assert site.languages == ["de", "all"]


class Here:
    """A person who sent a place three minutes ago."""

    async def here(self) -> KnownPlace:
        return KnownPlace(48.858372, 2.294481, 12.4, datetime.now(UTC) - timedelta(minutes=3))


async def test_a_search_nearby_tells_the_service_a_place_and_the_model_none(
    site: Site, context: ToolExecutionContext
) -> None:
    site.found = [FERRY]
    said = await search_nearby("pharmacy", replace(context, services={PlaceAccess: Here()}))
    assert said.splitlines()[0] == "Near where the person was 3 min ago, known to 12 m:"
    assert "48.8" not in said
    if context.settings["search"] == "brave":
        assert site.queries == ["pharmacy"]
        assert site.headers[-1]["X-Loc-Lat"] == "48.858"
        assert site.headers[-1]["X-Loc-Long"] == "2.294"
    else:
        assert site.queries == ["pharmacy near 48.858, 2.294"]


def test_a_search_nearby_is_never_run_after_words_of_others() -> None:
    assert (search_nearby.own_words, search_nearby.outside, search_nearby.effect) == (True, True, Effect.READ)


async def test_nothing_found_is_said(site: Site, context: ToolExecutionContext) -> None:
    assert await web_search("ferry", context) == "Nothing was found."


@pytest.mark.parametrize(("status", "why"), [(403, "has to check its settings"), (429, "at the moment")])
async def test_a_service_that_refuses_is_told_plainly(
    site: Site, context: ToolExecutionContext, status: int, why: str
) -> None:
    site.failing = status
    with pytest.raises(ToolFailed, match=why) as failed:
        await web_search("ferry", context)
    assert KEY not in str(failed.value)


async def test_an_answer_that_is_no_json_is_told_plainly(http: GuardedClient, site: Site) -> None:
    site.pages["/x/search"] = "<h1>Welcome</h1>"
    settings = {"search": "searxng", "search_url": f"{site.url}/x"}
    with pytest.raises(ToolFailed, match="cannot be read"):
        await web_search("ferry", replace(a_context(), http=http, settings=settings))


async def test_a_query_has_its_limits(context: ToolExecutionContext) -> None:
    for query in (" ", "x" * 401):
        with pytest.raises(ToolRetry):
            await web_search(query, context)
