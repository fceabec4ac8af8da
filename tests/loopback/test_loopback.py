"""The guard that keeps the tests on this machine refuses before anything is sent."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.forker import Forker, plain_environment
from tests.loopback.plugin import taken_from_record, watched_environment
from tests.loopback.site.sitecustomize import resolves_here, stays

ELSEWHERE = "192.0.2.7"  # TEST-NET-1 (RFC 5737): nobody is there, should the guard fail
_CONNECT = f"import socket; socket.create_connection(('{ELSEWHERE}', 9), 0.01)"

_HANDLES = f"""
import socket

def test_it():
    try:
        socket.create_connection(("{ELSEWHERE}", 9), 0.01)
    except OSError:
        pass
"""

pytestmark = pytest.mark.leaves_loopback


def test_a_connection_elsewhere_is_refused_before_it_is_begun() -> None:
    with socket.socket() as sock, pytest.raises(OSError, match="tests stay on loopback"):
        sock.connect((ELSEWHERE, 9))
    assert taken_from_record() == [f"socket.connect {ELSEWHERE}"]


def test_a_datagram_elsewhere_is_refused() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(OSError, match="tests stay on loopback"):
        sock.sendto(b"x", (ELSEWHERE, 9))
    assert taken_from_record() == [f"socket.sendto {ELSEWHERE}"]


async def test_a_name_lookup_is_refused_and_recorded_although_handled() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.get("http://api.provider.example/")
    assert taken_from_record() == ["socket.getaddrinfo api.provider.example"]


async def test_loopback_is_reached() -> None:
    async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(close, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            reader, writer = await asyncio.open_connection(host, port, family=socket.AF_INET)
            assert await reader.read() == b""
            writer.close()
    assert taken_from_record() == []


def test_a_process_of_a_test_is_watched() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CONNECT], env=plain_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "LeftLoopback" in done.stderr
    assert taken_from_record() == [f"socket.connect {ELSEWHERE}"]


@pytest.mark.xdist_group("processes")
async def test_a_forked_process_is_watched(forker: Forker, tmp_path: Path) -> None:
    out = tmp_path / "out"
    child = forker.fork([], plain_environment() | watched_environment(), out, module="tests.loopback.leaver")
    assert await child.wait() != 0
    assert "LeftLoopback" in out.read_text()
    assert taken_from_record() == [f"socket.connect {ELSEWHERE}"]


def test_a_test_that_leaves_fails_though_it_handles_the_refusal(tmp_path: Path) -> None:
    test = tmp_path / "test_leaves.py"
    test.write_text(_HANDLES)
    plain = ["-p", "tests.loopback.plugin", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, test],
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert f"socket.connect {ELSEWHERE}" in done.stdout


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "0.0.0.0", b"127.0.0.1"])  # noqa: S104
def test_this_machine_stays(host: object) -> None:
    assert stays(host)
    assert resolves_here(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254", "192.168.1.1", "8.8.8.8", "2001:db8::1"])
def test_another_address_is_not_sent_to_but_needs_no_name_server(host: str) -> None:
    assert not stays(host)
    assert resolves_here(host)


@pytest.mark.parametrize("host", ["api.provider.example", "metadata.google.internal", "evil.localhost.example"])
def test_a_name_needs_a_name_server(host: str) -> None:
    assert not stays(host)
    assert not resolves_here(host)
