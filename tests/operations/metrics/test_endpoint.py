"""`/metrics` over HTTP: what it says, to whom, and where it is served."""

import aiohttp
import pytest

from channels.http.app import build_app, serve
from core import metrics
from core.errors import ConfigError
from core.queue.quarantine import QuarantineMode
from onevalet.settings import Settings
from onevalet.supervision.worker_start import ALONE, WorkerStart
from onevalet.wiring.metrics import open_worker_metrics
from operations.metrics.backlog import Backlog
from operations.metrics.endpoint import MetricsEndpoint, serve_metrics
from tests.core.harness import Store
from tests.ports import free_port

TOKEN = "a-token-of-the-scraper"


async def _get(port: int, path: str = "/metrics", authorization: str = "") -> tuple[int, str, str]:
    headers = {"Authorization": authorization} if authorization else {}
    url = f"http://127.0.0.1:{port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status, await answer.text(), answer.headers.get("Content-Type", "")


async def test_it_tells_counts_the_process_and_the_backlog(store: Store) -> None:
    metrics.TURNS_FAILED.inc()
    async with serve_metrics(MetricsEndpoint(backlog=Backlog(store.database)), "127.0.0.1", 0) as port:
        status, text, content_type = await _get(port)
    assert status == 200
    assert content_type.startswith("text/plain; version=")
    assert "\nonevalet_turns_failed_total " in text
    assert "\nprocess_resident_memory_bytes " in text
    assert "\nonevalet_database_up 1.0\n" in text


async def test_its_own_port_serves_nothing_else() -> None:
    async with serve_metrics(MetricsEndpoint(), "127.0.0.1", 0) as port:
        assert (await _get(port, "/healthz"))[0] == 404


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \u00fc"]
)
async def test_whoever_has_not_the_token_is_refused(authorization: str) -> None:
    async with serve_metrics(MetricsEndpoint(TOKEN), "127.0.0.1", 0) as port:
        status, text, _ = await _get(port, authorization=authorization)
    assert (status, "onevalet_" in text) == (401, False)


async def test_whoever_has_the_token_is_answered() -> None:
    async with serve_metrics(MetricsEndpoint(TOKEN), "127.0.0.1", 0) as port:
        assert (await _get(port, authorization=f"Bearer {TOKEN}"))[0] == 200


async def test_the_token_is_asked_for_among_the_routes_of_web_too() -> None:
    async def yes() -> bool:
        return True

    app = build_app([], ready=yes, extra_routes=MetricsEndpoint(TOKEN).routes())
    async with serve(app, "127.0.0.1", 0) as port:
        assert (await _get(port))[0] == 401
        assert (await _get(port, authorization=f"Bearer {TOKEN}"))[0] == 200


async def test_a_port_in_use_is_an_error_that_names_the_setting() -> None:
    async with serve_metrics(MetricsEndpoint(), "127.0.0.1", 0) as port:
        with pytest.raises(ConfigError, match="ONEVALET_METRICS_PORT"):
            async with serve_metrics(MetricsEndpoint(), "127.0.0.1", port):
                pass


async def test_a_worker_serves_the_port_and_its_quarantine_process_does_not() -> None:
    port = free_port()
    settings = Settings(_env_file=None, onevalet_metrics_port=port)
    async with open_worker_metrics(settings, ALONE):
        status, text, _ = await _get(port)
        assert (status, "onevalet_database_up" in text) == (200, False)
    async with open_worker_metrics(settings, WorkerStart(quarantine=QuarantineMode.ONLY)):
        with pytest.raises(aiohttp.ClientConnectorError):
            await _get(port)


async def test_without_a_port_a_worker_opens_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a port was opened")

    monkeypatch.setattr("onevalet.wiring.metrics.serve_metrics", refuse)
    async with open_worker_metrics(Settings(_env_file=None), ALONE):
        pass
