"""Requests for other hosts' names go no further, and simulated channels answer this machine only."""

import asyncio
from collections.abc import Sequence
from urllib.parse import urlencode

import aiohttp
import pytest
from aiohttp import web

from channels.http.app import build_app, serve
from channels.http.hosts import ServedHosts, check_hosts, names_a_proxy, read_host, served_hosts
from tests.channels.memory_sink import MemorySink
from tests.channels.sms.builders import FORM, PUBLIC_URL, make_channel, signature, webhook
from tests.patience import PATIENCE

LOCAL = ("localhost", "LOCALHOST", "valet.localhost", "127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1")
FOREIGN = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "xn--e1awd7f.example", "")

PROXYS = (
    "X-Real-IP",
    "Via",
    "CF-Connecting-IP",
    "Cf-Ray",
    "True-Client-IP",
    "X-Client-IP",
    "X-Cluster-Client-IP",
    "Fastly-Client-IP",
    "X-Original-Host",
    "X-Original-URL",
    "X-Forwarded-Proto",
    "X-Forwarded-Prefix",
    "X-Forwarded",
    "Forwarded-For",
    "X-Remote-Addr",
    "X-ProxyUser-Ip",
    "X-Envoy-External-Address",
    "X-Azure-ClientIP",
    "X-Host",
    "X-Scheme",
    "Tailscale-User-Login",
)
BROWSERS = (
    "Host",
    "Accept-Language",
    "Upgrade-Insecure-Requests",
    "Sec-CH-UA-Platform",
    "Sec-Fetch-Site",
    "Last-Event-ID",
    "X-Twilio-Signature",
    "I-Twilio-Idempotency-Token",
    "X-Slack-Request-Timestamp",
    "X-Telegram-Bot-Api-Secret-Token",
    "traceparent",
)


@pytest.mark.parametrize(
    ("host", "public_url", "further", "served", "refused"),
    [
        # On this machine only, as by default: its own names, and what the operator said.
        ("127.0.0.1", "", (), (), ("valet.example", "web", "192.0.2.7", "0.0.0.0")),  # noqa: S104
        ("::1", "https://valet.example", (), ("valet.example",), ("web", "www.valet.example", "192.0.2.7")),
        ("127.0.0.1", "https://Valet.example:8443/base", (), ("valet.example",), ("base",)),
        ("localhost", "https://valet.example:8443", ("hooks.example",), ("valet.example", "hooks.example"), ("web",)),
        # Open to others, behind a proxy: what no page can make its own passes, too.
        ("0.0.0.0", "https://valet.example", (), ("valet.example", "web", "10.1.2.3", "2001:db8::7"), ("a.b",)),  # noqa: S104
        ("0.0.0.0", "", ("hooks.example",), ("hooks.example", "web"), ("a.b",)),  # noqa: S104
        ("valet.lan", "https://valet.example", (), ("valet.lan", "valet.example"), ("a.b",)),
    ],
)
def test_hosts_are_served_that_are_local_or_named_by_a_setting(
    host: str, public_url: str, further: Sequence[str], served: Sequence[str], refused: Sequence[str]
) -> None:
    hosts = served_hosts(host, public_url, further)
    assert [name for name in (*LOCAL, *served) if not hosts.serves(read_host(_in_header(name)))] == []
    assert [name for name in (*FOREIGN, *refused) if hosts.serves(read_host(_in_header(name)))] == []


def test_a_process_open_to_others_that_was_told_no_name_serves_any() -> None:
    assert served_hosts("0.0.0.0", "").serves("valet.example")  # noqa: S104
    assert served_hosts("127.0.0.1", "", ("*",)).serves("valet.example")


@pytest.mark.parametrize("text", ["a@127.0.0.1", "evil.example/@127.0.0.1", "[::1", "127.0.0.1#", "a b?c", " "])
def test_what_is_no_host_is_read_as_none(text: str) -> None:
    assert read_host(text) == ""


async def test_a_foreign_host_is_refused_before_the_body_and_probes_are_not() -> None:
    sink = MemorySink()
    app = build_app([make_channel(sink)], ready=_ready, hosts=check_hosts(served_hosts("127.0.0.1", PUBLIC_URL)))
    async with serve(app, "127.0.0.1", 0) as port:
        head = "POST /webhooks/sms HTTP/1.1\r\nHost: {}\r\nContent-Length: 999\r\n\r\n"
        assert "421" in await _first_line(port, head.format("evil.example"))
        assert "421" in await _first_line(port, "POST /webhooks/sms HTTP/1.0\r\nContent-Length: 999\r\n\r\n")
        for host in ("evil.example", f"evil.example:{port}", "10.0.0.1"):
            for path in ("/healthz", "/readyz"):
                assert "200" in await _first_line(port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")
        assert "200" in await _first_line(port, "GET /healthz HTTP/1.0\r\n\r\n")
    assert sink.calls == 0


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8080"}, 200),
        ({"Host": "valet.example.com"}, 403),
        ({"Host": "192.0.2.7"}, 403),
        ({"X-Forwarded-For": "192.0.2.7"}, 403),
        ({"Forwarded": "for=192.0.2.7"}, 403),
        *(({name: "192.0.2.7"}, 403) for name in PROXYS),
    ],
)
async def test_a_simulated_channel_takes_what_was_sent_to_this_machine_itself(
    extra: dict[str, str], status: int
) -> None:
    sink = MemorySink()
    channel = make_channel(sink)
    app = build_app([channel], ready=_ready, hosts=check_hosts(ServedHosts(), [channel]))
    async with serve(app, "127.0.0.1", 0) as port:
        assert await _post_text(port, extra) == status


@pytest.mark.parametrize("name", BROWSERS)
def test_what_browsers_and_providers_send_names_no_proxy(name: str) -> None:
    assert not names_a_proxy(name)


async def test_a_simulated_channel_refuses_peers_that_are_not_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = make_channel(MemorySink())
    app = build_app([channel], ready=_ready, hosts=check_hosts(ServedHosts(), [channel]))
    monkeypatch.setattr(web.Request, "remote", "192.0.2.7")
    async with serve(app, "127.0.0.1", 0) as port:
        assert await _post_text(port, {}) == 403


async def _post_text(port: int, headers: dict[str, str]) -> int:
    pairs = webhook()
    signed = {"X-Twilio-Signature": signature(pairs), "Content-Type": FORM, **headers}
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{port}/webhooks/sms"
        async with session.post(url, data=urlencode(pairs), headers=signed) as answer:
            return answer.status


async def _first_line(port: int, request: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode())
    async with asyncio.timeout(PATIENCE):
        line = await reader.readline()
    writer.close()
    return line.decode()


def _in_header(name: str) -> str:
    return f"[{name}]:8080" if ":" in name else f"{name}:8080"


async def _ready() -> bool:
    return True
