"""How spans leave: to the operator's collector alone, by the standard variables, and without anybody waiting for it."""

import gzip
import itertools
import threading
from collections.abc import Callable, Iterable

import aiohttp
import pytest
import structlog
from aiohttp import web

from channels.http.app import build_app, serve
from core import tracing
from core.errors import ConfigError
from onevalet.settings import Settings
from onevalet.wiring import tracing as wiring
from onevalet.wiring.tracing import open_tracing
from tests.core.harness import Store
from tests.core.http.test_interim import MB, saying
from tests.jobs.harness import RecordingChannel
from tests.jobs.worker_harness import WorkerHarness
from tests.operations.tracing.collector import open_collector, traced
from tests.patience import PATIENCE


def settings(url: str) -> Settings:
    """Return settings that name a collector."""
    return Settings(_env_file=None, otel_exporter_otlp_endpoint=url)


async def test_headers_and_names_of_the_environment_are_exported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=home")
    with open_collector() as collector:
        for name in ("", "valet"):
            monkeypatch.setenv("OTEL_SERVICE_NAME", name)
            async with open_tracing(settings(collector.url), "web"):
                with tracing.span("work"):
                    pass
            assert not tracing.is_on()
        assert [headers["x-key"] for headers in collector.headers] == ["abc", "abc"]
        assert [resource["service.name"] for resource in collector.resources] == ["onevalet-web", "valet"]
        assert collector.resources[0]["deployment.environment"] == "home"


@pytest.mark.parametrize(
    "environment",
    [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_TRACES_SAMPLER": "always_off"}],
    ids=["disabled", "no exporter", "sampled out"],
)
async def test_the_environment_turns_spans_off(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with open_collector() as collector:
        async with open_tracing(settings(collector.url), "web"):
            with tracing.span("work"):
                pass
        assert collector.spans == []


async def test_another_protocol_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(ConfigError, match="only http/protobuf"):
        async with open_tracing(settings("http://127.0.0.1:9"), "web"):
            pass


async def test_a_collector_that_hangs_delays_neither_turns_nor_the_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")  # an end that waited for it would not come
    monkeypatch.setattr(wiring, "CLOSE_SECONDS", 0.2)
    with open_collector() as collector:
        collector.hangs = threading.Event()
        async with open_tracing(settings(collector.url), "worker"):
            for number in range(3):
                await store.say(f"hello {number}")
                await WorkerHarness(store, channel=RecordingChannel()).run_turns()
        assert await store.column("select distinct state from turns") == ["done"]
        assert collector.spans == []


ANSWERS: dict[str, Callable[[], Iterable[bytes]]] = {
    "a body without an end": lambda: itertools.chain([b"HTTP/1.1 200 OK\r\n\r\n"], itertools.repeat(b"x" * 64 * 1024)),
    "headers without an end": lambda: itertools.chain([b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"A: b\r\n" * 1000)),
    "interim answers without an end": lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
}


@pytest.mark.whole("it works until a limit is reached")
@pytest.mark.parametrize("manner", ANSWERS)
async def test_an_answer_of_a_collector_without_an_end_is_given_up(
    monkeypatch: pytest.MonkeyPatch, manner: str
) -> None:
    monkeypatch.setattr(wiring, "CLOSE_SECONDS", PATIENCE)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")  # it asks again, until then
    async with saying(ANSWERS[manner]) as server:
        async with open_tracing(settings(f"http://127.0.0.1:{server.port}"), "web"):
            with tracing.span("work"):
                pass
        assert 0 < server.said < 50 * MB


async def test_a_packed_answer_of_a_collector_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(b"{}")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    monkeypatch.setattr(wiring, "CLOSE_SECONDS", PATIENCE)
    async with saying(lambda: [head + packed]) as server:
        with structlog.testing.capture_logs() as logs:
            async with open_tracing(settings(f"http://127.0.0.1:{server.port}"), "web"):
                with tracing.span("work"):
                    pass
        assert server.said == len(head + packed), "it was asked once"
    assert "spans_not_exported" not in [line["event"] for line in logs]


async def test_a_redirect_is_not_followed_with_the_operators_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
    with open_collector() as elsewhere, open_collector() as collector:
        collector.redirects_to = f"{elsewhere.url}/v1/traces"
        async with open_tracing(settings(collector.url), "web"):
            with tracing.span("work"):
                pass
        assert elsewhere.headers == []


async def test_a_stranger_puts_nothing_into_our_traces() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response()

    async def ready() -> bool:
        return True

    forged = f"00-{'a' * 32}-{'b' * 16}-01"
    with open_collector() as collector:
        with traced(collector):
            app = build_app([], ready=ready, extra_routes=[web.post("/links/{secret}", answer)])
            async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
                url = f"http://127.0.0.1:{port}/links/k3y"
                async with session.post(url, headers={"traceparent": forged, "baggage": "a=b"}) as answered:
                    assert "traceparent" not in answered.headers
        span = collector.named("POST /links/{secret}")
        assert (span.parent, span.kind, span.attributes["http.response.status_code"]) == ("", "server", 200)
        assert span.trace != "a" * 32
        assert b"k3y" not in collector.raw
