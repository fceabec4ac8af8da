"""Requests that are not the provider's, or not what it sends: all 4xx, nothing accepted, nothing logged as ours."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

import aiohttp
import pytest
from structlog.testing import capture_logs

from tests.channels.hostile import HARDLY_HTTP, SPOILT, Hostile, HostileCases, ServedChannel
from tests.channels.slack import hostile as slack
from tests.channels.sms import hostile as sms
from tests.channels.telegram import hostile as telegram
from tests.patience import PATIENCE

CASES = {"sms": sms.CASES, "slack": slack.CASES, "telegram": telegram.CASES}


def named(kind: str) -> Sequence[object]:
    """Return (provider, name) of each channel's own cases of a kind."""
    return [
        pytest.param(provider, name, id=f"{provider}: {name}")
        for provider, cases in CASES.items()
        for name in getattr(cases, kind)
    ]


@pytest.fixture
def provider(channel: str) -> str:
    """Return the channel of a case that all share."""
    return channel


@pytest.fixture
def cases(provider: str) -> HostileCases:
    """Return the channel's list."""
    return CASES[provider]


@pytest.fixture
async def served(cases: HostileCases) -> AsyncIterator[ServedChannel]:
    """Serve the channel that the case is about."""
    async with cases.serve() as opened:
        yield opened


def test_promise_12_hostile_lists_are_long_enough(channel: str) -> None:
    cases = CASES[channel]
    shared = len(SPOILT) + len(HARDLY_HTTP)
    assert shared + len(cases.forged) + len(cases.malformed) + len(cases.raw) >= 75


async def test_the_good_request_that_is_spoilt_is_good(
    channel: str, cases: HostileCases, served: ServedChannel
) -> None:
    assert (await _send(served, cases.good)).status == 200
    assert served.sink.calls == 1


@pytest.mark.parametrize(("provider", "name"), named("forged"))
async def test_promise_12_forged_requests_end_in_403(
    provider: str, name: str, cases: HostileCases, served: ServedChannel, caplog: pytest.LogCaptureFixture
) -> None:
    with _nothing_happens(served, cases, caplog):
        response = await _send(served, cases.forged[name])
    assert response.status == 403


@pytest.mark.parametrize(("provider", "name"), named("malformed"))
async def test_promise_12_authentic_but_malformed_requests_end_in_4xx(
    provider: str, name: str, cases: HostileCases, served: ServedChannel, caplog: pytest.LogCaptureFixture
) -> None:
    with _nothing_happens(served, cases, caplog):
        response = await _send(served, cases.malformed[name])
    assert 400 <= response.status < 500


@pytest.mark.parametrize("name", SPOILT)
async def test_promise_12_spoilt_requests_end_in_4xx(
    channel: str, name: str, cases: HostileCases, served: ServedChannel, caplog: pytest.LogCaptureFixture
) -> None:
    with _nothing_happens(served, cases, caplog):
        response = await _send(served, SPOILT[name](cases.good))
    assert 400 <= response.status < 500


@pytest.mark.parametrize(("provider", "name"), named("raw"))
async def test_promise_12_odd_bytes_for_a_provider_end_in_4xx(
    provider: str, name: str, cases: HostileCases, served: ServedChannel, caplog: pytest.LogCaptureFixture
) -> None:
    with _nothing_happens(served, cases, caplog):
        status = await _write(served.port, cases.raw[name])
    assert 400 <= status < 500


@pytest.mark.parametrize("name", HARDLY_HTTP)
async def test_promise_12_requests_that_are_hardly_http_end_in_4xx(
    channel: str, name: str, cases: HostileCases, served: ServedChannel, caplog: pytest.LogCaptureFixture
) -> None:
    with _nothing_happens(served, cases, caplog):
        status = await _write(served.port, HARDLY_HTTP[name](cases))
    assert 400 <= status < 500


async def _send(served: ServedChannel, hostile: Hostile) -> aiohttp.ClientResponse:
    return await served.send(hostile.body, path=hostile.path, method=hostile.method, headers=hostile.headers)


async def _write(port: int, raw: bytes) -> int:
    """Write bytes to the gateway; return the status of its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(raw)
    async with asyncio.timeout(PATIENCE):
        line = await reader.readline()
    writer.close()
    return int(line.split(b" ")[1])


@contextmanager
def _nothing_happens(served: ServedChannel, cases: HostileCases, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Look that nothing is accepted, logged as a fault of ours, or logged of what is private."""
    with caplog.at_level(logging.INFO), capture_logs() as logs:
        yield
    assert served.sink.calls == 0
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.WARNING]
    logged = f"{logs}{caplog.text}"
    assert "request_failed" not in logged
    for private in cases.private:
        assert private not in logged
