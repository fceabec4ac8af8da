"""Every module that opens connections is known: as a client of others' servers, or as one of our own."""

from pathlib import Path

import pytest

from tests.shipping.harness import PACKAGES, PRODUCT, python_files
from tests.shipping.peers import (
    OURS,
    PEERS,
    QUIET,
    WITHOUT_CASE,
    known_modules,
    libraries,
    openers,
    problems,
    speaking,
)


def test_every_module_that_opens_connections_is_known() -> None:
    assert problems(openers(python_files(*PRODUCT)), known_modules()) == []


def test_of_every_library_it_is_known_whether_it_speaks_with_servers() -> None:
    found = libraries(python_files(*PRODUCT), PACKAGES)
    assert sorted(found - speaking() - QUIET) == [], "say in peers.py what of them connects, or that nothing does"
    assert sorted(QUIET - found) == []
    assert sorted(QUIET & speaking()) == []


def test_a_new_library_is_found() -> None:
    planted = {"planted.py": "import asyncio\nfrom core import ids\nfrom grpc import aio"}
    assert libraries(planted, PACKAGES) - speaking() - QUIET == {"grpc"}


def test_a_client_has_a_case_or_a_reason_and_a_module_one_place() -> None:
    assert {name for name, (_, case) in PEERS.items() if not case} == set(WITHOUT_CASE)
    placed = [module for modules, _ in PEERS.values() for module in modules] + list(OURS)
    assert len(placed) == len(set(placed))
    assert all([*WITHOUT_CASE.values(), *OURS.values()])


@pytest.mark.parametrize(
    "source",
    [
        "import aiohttp\nasync def f():\n    async with aiohttp.ClientSession() as s: ...",
        "from aiohttp import ClientSession as S\ns = S()",
        "import aiohttp as web\nweb.request('GET', 'u')",
        "def f():\n    import httpx\n    return httpx.AsyncClient()",
        "from httpx import get",
        "import asyncio\nasyncio.open_connection('h', 1)",
        "from asyncio import open_unix_connection\nopen_unix_connection('p')",
        "async def f(loop):\n    await loop.create_connection(P, 'h', 1)\n    await loop.start_tls(t, p, c)",
        "import imaplib",
        "from smtplib import SMTP",
        "import aiosmtplib",
        "import urllib.request\nurllib.request.urlopen('u')",
        "from urllib import request\nrequest.urlopen('u')",
        "import http.client",
        "from http import client",
        "import requests",
        "from websockets.asyncio.client import connect",
        "import socket\nsocket.create_connection(('h', 1))",
        "from core.http.provider_session import open_session\nopen_session(t)",
        "import litellm\nlitellm.acompletion()",
        "import httpx2",
        "from mcp import Client",
        "from anyio import connect_tcp\nconnect_tcp('h', 1)",
        "from redis.asyncio import Redis\nRedis()",
        "from slack_sdk.web.async_client import AsyncWebClient",
        "from telegram import Bot\nBot('t')",
        "from twilio.rest import Client",
        "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter",
    ],
)
def test_a_planted_module_is_found(tmp_path: Path, source: str) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(source, encoding="utf-8")
    [problem] = problems(openers({"planted.py": planted.read_text(encoding="utf-8")}), {})
    assert problem.startswith("planted.py opens connections (")


@pytest.mark.parametrize(
    "source",
    [
        "import socket\ndef f(s: socket.socket): ...",
        "from http import HTTPStatus",
        "from aiohttp import web",
        "from slack_sdk.errors import SlackApiError",
        "from telegram import Bot\ndef f(bot: Bot): ...",
        "from opentelemetry.sdk.trace import TracerProvider",
    ],
)
def test_what_opens_nothing_is_not_found(source: str) -> None:
    assert openers({"quiet.py": source}) == {}


def test_a_module_that_opens_nothing_any_more_leaves_the_table() -> None:
    assert problems({}, {"core/gone.py": "a client"}) == ["core/gone.py opens no connection"]
