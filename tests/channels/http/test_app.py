"""The application around the channels: health, readiness, ids, and errors as statuses."""

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from channels.http.app import MAX_BODY, build_app, serve
from core.errors import RequestRefused, StoreUnavailable


async def _get(app: web.Application, path: str, *, data: bytes | None = None) -> tuple[int, str, str]:
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        method = "GET" if data is None else "POST"
        async with session.request(method, f"http://127.0.0.1:{port}{path}", data=data) as response:
            return response.status, await response.text(), response.headers.get("X-Request-Id", "")


async def _yes() -> bool:
    return True


async def _no() -> bool:
    return False


async def _away() -> bool:
    raise StoreUnavailable("no connection")


async def test_readyz_is_200_when_postgres_answers() -> None:
    status, body, _ = await _get(build_app([], ready=_yes), "/readyz")
    assert (status, body) == (200, '{"ready": true, "missing": [], "degraded": []}')


@pytest.mark.parametrize("ready", [_no, _away])
async def test_readyz_is_503_without_postgres_and_says_so(ready: object) -> None:
    status, body, _ = await _get(build_app([], ready=ready), "/readyz")  # type: ignore[arg-type]
    assert (status, body) == (503, '{"ready": false, "missing": ["postgres"], "degraded": []}')


async def test_healthz_is_200_even_without_postgres() -> None:
    status, _, _ = await _get(build_app([], ready=_away), "/healthz")
    assert status == 200


async def test_every_answer_carries_the_id_that_its_log_lines_carry() -> None:
    async def refuse(_: web.Request) -> web.Response:
        raise RequestRefused("no reason", status=418)

    app = build_app([], ready=_yes, extra_routes=[web.get("/x", refuse)], make_request_id=lambda prefix: f"{prefix}_7")
    status, body, request_id = await _get(app, "/x")
    assert (status, request_id) == (418, "req_7")
    assert "no reason" not in body


async def test_promise_14_an_unforeseen_error_is_500_with_one_log_line() -> None:
    async def fail(_: web.Request) -> web.Response:
        raise LookupError("internal detail")

    with capture_logs() as logs:
        app = build_app([], ready=_yes, extra_routes=[web.get("/x", fail)])
        status, body, _ = await _get(app, "/x")
    assert status == 500
    assert "detail" not in body
    assert [entry["event"] for entry in logs] == ["request_failed"]


async def test_a_body_over_the_limit_is_413_and_one_at_the_limit_is_read() -> None:
    async def size(request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.read())))

    app = build_app([], ready=_yes, extra_routes=[web.post("/x", size)])
    assert (await _get(app, "/x", data=b"x" * MAX_BODY))[:2] == (200, str(MAX_BODY))
    app = build_app([], ready=_yes, extra_routes=[web.post("/x", size)])
    assert (await _get(app, "/x", data=b"x" * (MAX_BODY + 1)))[0] == 413


async def test_a_wrong_method_is_405_and_an_unknown_path_404() -> None:
    assert (await _get(build_app([], ready=_yes), "/healthz", data=b""))[0] == 405
    assert (await _get(build_app([], ready=_yes), "/nothing"))[0] == 404


async def test_extra_routes_are_served() -> None:
    async def hello(_: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = build_app([], ready=_yes, extra_routes=[web.get("/", hello)])
    assert (await _get(app, "/"))[1] == "hello"
