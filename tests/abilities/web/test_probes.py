"""`doctor` about the search service."""

import pytest
from aiohttp import web

from abilities.web.probes import check_search
from operations.doctor.types import Installation
from tests.operations.doctor.test_servers import served, settings


def installed(**values: object) -> Installation:
    """Return an installation with these settings."""
    return Installation(settings(**values))


@pytest.mark.parametrize("service", ["searxng", "brave", "tavily"])
async def test_the_search_service_is_asked_once(service: str) -> None:
    asked: list[web.Request] = []

    def answer(request: web.Request) -> web.Response:
        asked.append(request)
        key = request.headers.get("X-Subscription-Token") or request.headers.get("Authorization", "")
        is_known = service == "searxng" or "good" in (key or "")
        return web.json_response({"results": []}, status=200 if is_known else 401)

    async with served(answer) as url:
        with_key = {} if service == "searxng" else {"onevalet_search_key": "good"}
        [good] = await check_search(installed(onevalet_search=service, onevalet_search_url=url, **with_key))
        assert (good.ok, good.detail, good.fix) == (True, f"{service} answers", "")
        assert len(asked) == 1
        if with_key:
            wrong = installed(onevalet_search=service, onevalet_search_url=url, onevalet_search_key="wrong-key")
            [refused] = await check_search(wrong)
            assert (refused.ok, refused.detail) == (False, f"{service} refuses us (HTTP 401)")
            assert refused.fix.startswith("correct ONEVALET_SEARCH_KEY")
    [away] = await check_search(installed(onevalet_search=service, onevalet_search_url=url, onevalet_search_key="k"))
    assert (away.ok, away.fix) == (False, "see whether it is away, or correct ONEVALET_SEARCH_URL")


async def test_a_page_in_place_of_results_is_no_search_service() -> None:
    async with served(lambda _: web.Response(text="<html>")) as url:
        [check] = await check_search(installed(onevalet_search="searxng", onevalet_search_url=url))
    assert (check.ok, check.detail) == (False, "searxng gives no results (HTTP 200)")
