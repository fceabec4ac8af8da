"""The guarded client, over real sockets: a server of our own, named by the operator, or standing in for the world."""

import asyncio

import pytest
from aiohttp import web

from core.errors import ToolFailed
from core.http.guarded_client import CONNECTIONS, Limits, read_allowed
from core.http.types import HttpClient
from core.json_types import Json
from core.loop.batches import AT_ONCE
from core.queue.limits import MAX_LANES_PER_TENANT
from tests.core.http.harness import NOT_PUBLIC, WORLD, Server, client_for, outside
from tests.eventually import never
from tests.patience import PATIENCE
from tests.ports import free_port


async def test_a_host_that_the_operator_named_is_reached_and_its_answer_told(server: Server) -> None:
    server.says("/page", "grüß".encode(), Content_Type="Text/HTML; charset=utf-8", X_More="yes")
    async with client_for(server) as client:
        used: HttpClient = client
        answer = await used.request("get", server.url("/page?q=1#part"), headers={"X-Key": "k"})
    assert (answer.status, answer.body.decode(), answer.cut) == (200, "grüß", False)
    assert (answer.content_type, answer.headers["x-more"]) == ("text/html", "yes")
    [seen] = server.seen
    assert (seen.method, seen.path_qs, seen.headers["X-Key"]) == ("GET", "/page?q=1", "k")


async def test_json_is_sent_and_a_status_is_no_error(server: Server) -> None:
    async def echo(request: web.Request) -> web.Response:
        assert request.content_type == "application/json"
        return web.json_response(await request.json(), status=422)

    server.routes["/"] = echo
    async with client_for(server) as client:
        answer = await client.request("POST", server.url(), json={"a": [1, None]})
    assert (answer.status, answer.body) == (422, b'{"a": [1, null]}')


@pytest.mark.parametrize("allowed", [[], ["127.0.0.1"], ["127.0.0.1:1"], ["localhost:{port}"], ["127.0.0.2:{port}"]])
async def test_a_host_is_allowed_exactly_or_not_at_all(server: Server, allowed: list[str]) -> None:
    named = [text.format(port=server.port) for text in allowed]
    async with client_for(server, allowed_hosts=named, ports=range(65536)) as client:
        with pytest.raises(ToolFailed, match=NOT_PUBLIC):
            await client.request("GET", server.url())
    assert server.seen == []


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("localhost.", marks=pytest.mark.leaves_loopback), "127.0.0.1", "localhost", "LOCALHOST", "0.0.0.1",
        "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "127.0.0.9",
        "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "user@127.0.0.1", "①②⑦.⓪.⓪.①", "[fe80::1%25lo]", "[::1%25lo]",
        "169.254.169.254",
    ],
)  # fmt: skip
async def test_no_spelling_of_this_machine_is_reached(server: Server, host: str) -> None:
    async with client_for(server, allowed_hosts=[], ports=[server.port]) as client:
        with pytest.raises(ToolFailed):
            await client.request("GET", f"http://{host}:{server.port}/")
    assert server.seen == []


@pytest.mark.usefixtures("world")
async def test_what_may_not_be_fetched_is_told_without_a_request(server: Server) -> None:
    async with outside(server, in_example=[["127.0.0.1", "10.0.0.1"]], out_example=[["127.0.0.1", WORLD]]) as client:
        barred = ("127.0.0.1", "[::1]", "169.254.169.254", "10.1.2.3", "in.example", "2130706433", "out.example:22")
        for host in barred:
            with pytest.raises(ToolFailed):
                await client.check(f"http://{host}/" if ":22" in host else server.url("/", host))
        for host in (WORLD, "out.example", "nowhere.example"):
            await client.check(server.url("/", host))
    async with client_for(server) as named:
        await named.check(server.url())
    assert server.seen == []


async def test_other_ports_are_refused(server: Server) -> None:
    async with client_for(server, allowed_hosts=[]) as client:
        for port in (22, 25, 6379, 5432, 8080, server.port):
            with pytest.raises(ToolFailed, match="usual ports"):
                await client.request("GET", f"http://example.com:{port}/")


@pytest.mark.usefixtures("world")
async def test_a_name_that_leads_inside_is_refused_where_it_is_connected_to(server: Server) -> None:
    server.says("/")
    for inside in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1"):  # noqa: S104
        async with outside(server, evil_example=[[inside]]) as client:
            with pytest.raises(ToolFailed, match=NOT_PUBLIC):
                await client.request("GET", server.url("/", "evil.example"))
    async with outside(server, evil_example=[["127.0.0.1", "10.0.0.1"]]) as client:
        with pytest.raises(ToolFailed, match=NOT_PUBLIC):
            await client.request("GET", server.url("/", "evil.example"))
    assert server.seen == []
    async with outside(server, mixed_example=[["127.0.0.1", WORLD]]) as client:
        assert (await client.request("GET", server.url("/", "mixed.example"))).body == b"hello"
    assert server.at == [WORLD]


@pytest.mark.usefixtures("world")
async def test_a_name_that_changes_its_mind_is_refused(server: Server) -> None:
    server.says("/", Connection="close")
    server.leads("/again", server.url("/", "rebind.example"))
    async with outside(server, rebind_example=[[WORLD], ["127.0.0.1"]]) as client:
        assert (await client.request("GET", server.url("/", "rebind.example"))).status == 200
        for _ in range(3):
            with pytest.raises(ToolFailed, match=NOT_PUBLIC):
                await client.request("GET", server.url("/", "rebind.example"))
    async with outside(server, a_example=[[WORLD]], rebind_example=[["127.0.0.1"], [WORLD]]) as client:
        with pytest.raises(ToolFailed, match=NOT_PUBLIC):
            await client.request("GET", server.url("/again", "a.example"))
    assert set(server.at) == {WORLD}


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.1:{port}/", "http://localhost:{port}/", "//127.0.0.1:{port}/", "http://[::1]:{port}/",
        "http://inside.example:{port}/", "file:///etc/passwd", "http://169.254.169.254/latest/meta-data/",
        "http://user:pw@world.example:{port}/", "http://127.1:{port}/", "gopher://127.0.0.1:{port}/_x", "http://[",
        "http://world.example:22/", "http://a b/", "http://world.example:{port}@127.0.0.1/",
    ],
)  # fmt: skip
async def test_a_redirect_passes_the_same_door(server: Server, to: str) -> None:
    server.says("/")
    server.leads("/start", to.format(port=server.port))
    async with outside(server, world_example=[[WORLD]], inside_example=[["127.0.0.1"]]) as client:
        with pytest.raises(ToolFailed):
            await client.request("GET", server.url("/start", "world.example"))
    assert server.at == [WORLD]


async def test_five_redirects_are_followed_and_six_are_not(server: Server) -> None:
    for number in range(6):
        server.leads(f"/{number}", f"/{number + 1}")
    server.says("/6")
    async with client_for(server) as client:
        answer = await client.request("GET", server.url("/1"))
        assert (answer.body, answer.url) == (b"hello", server.url("/6"))
        with pytest.raises(ToolFailed, match="redirects too often"):
            await client.request("GET", server.url("/0"))


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST"),
        (308, "PUT", "PUT"), (302, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (301, "PUT", "PUT"),
    ],
)  # fmt: skip
async def test_a_redirect_changes_the_method_as_the_standard_says(
    server: Server, status: int, method: str, then: str
) -> None:
    server.leads("/", "/there", status)
    server.says("/there")
    sent: Json = {"a": 1} if method in ("POST", "PUT") else None
    async with client_for(server) as client:
        await client.request(method, server.url(), json=sent)
    last = server.seen[-1]
    assert last.method == then
    assert last.can_read_body == (then in ("POST", "PUT"))


@pytest.mark.usefixtures("world")
async def test_no_credential_crosses_to_another_host_nor_comes_back(server: Server) -> None:
    server.leads("/start", server.url("/middle", "b.example"))
    server.leads("/middle", server.url("/end", "a.example"))
    server.says("/end", Set_Cookie="c=1")
    secrets = {"Authorization": "Bearer s", "Cookie": "s=1", "X-Api-Key": "s", "Api-Token": "s"}
    async with outside(server, a_example=[[WORLD]], b_example=[[WORLD]]) as client:
        await client.request("GET", server.url("/start", "a.example"), headers=secrets | {"Accept": "text/html"})
        await client.request("GET", server.url("/end", "a.example"))
    first, middle, end, later = server.seen
    assert all(first.headers[name] == value for name, value in secrets.items())
    for request in (middle, end, later):
        assert not set(secrets) & set(request.headers)
    assert middle.headers["Accept"] == end.headers["Accept"] == "text/html"
    assert middle.headers["Host"] == f"b.example:{server.port}"


@pytest.mark.usefixtures("world")
async def test_credentials_stay_with_a_redirect_on_the_same_host(server: Server) -> None:
    server.leads("/start", "/end")
    server.says("/end")
    async with outside(server, a_example=[[WORLD]]) as client:
        await client.request("GET", server.url("/start", "a.example"), headers={"Authorization": "Bearer s"})
    assert server.seen[-1].headers["Authorization"] == "Bearer s"


@pytest.mark.usefixtures("world")
async def test_what_was_sent_is_not_passed_on_to_another_host(server: Server) -> None:
    server.leads("/", server.url("/there", "b.example"), 307)
    server.says("/there")
    async with outside(server, a_example=[[WORLD]], b_example=[[WORLD]]) as client:
        with pytest.raises(ToolFailed, match=r"^a\.example passes the request on to b\.example\.$"):
            await client.request("POST", server.url("/", "a.example"), json={"secret": 1})
    assert len(server.seen) == 1


async def test_two_servers_of_one_host_are_told_apart_by_their_ports(server: Server) -> None:
    server.leads("/", "http://127.0.0.1:9/there", 307)
    async with client_for(server) as client:
        with pytest.raises(ToolFailed, match=rf"^{server.url('')} passes the request on to http://127\.0\.0\.1:9\.$"):
            await client.request("POST", server.url("/"), json={"secret": 1})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Host", "inside.example"), ("Content-Length", "0"), ("Transfer-Encoding", "chunked"), ("connection", "x"),
        ("Proxy-Authorization", "x"), ("Upgrade", "h2c"), ("X-A", "1\r\nHost: x"), ("X-A", "\x00"), ("X A", "1"),
        ("X-A\r\nB", "1"), ("", "1"), ("X-Ü", "1"), ("X-A", "€"),
    ],
)  # fmt: skip
async def test_headers_that_bend_the_request_are_refused(server: Server, name: str, value: str) -> None:
    async with client_for(server) as client:
        with pytest.raises(ToolFailed, match="The header"):
            await client.request("GET", server.url(), headers={name: value})
    assert server.seen == []


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "get\r\n", "", "G T"])
async def test_other_methods_are_refused(server: Server, method: str) -> None:
    async with client_for(server) as client:
        with pytest.raises(ToolFailed, match="not a method"):
            await client.request(method, server.url())
    assert server.seen == []


@pytest.mark.parametrize("limits", [Limits(total=0.4), Limits(silence=0.4)], ids=["drip", "silence"])
async def test_a_slow_body_ends_in_time(server: Server, limits: Limits) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while limits.total < 1:
            await response.write(b"x")
            await asyncio.sleep(0.05)
        await never()
        return response

    server.routes["/"] = drip
    async with asyncio.timeout(PATIENCE), client_for(server, limits=limits) as client:
        with pytest.raises(ToolFailed, match="took too long"):
            await client.request("GET", server.url())


async def test_redirects_share_one_time(server: Server) -> None:
    async def slowly(_: web.Request) -> web.Response:
        await asyncio.sleep(0.25)
        return web.Response(status=302, headers={"Location": "/"})

    server.routes["/"] = slowly
    async with client_for(server, limits=Limits(total=0.6)) as client:
        with pytest.raises(ToolFailed, match="took too long"):
            await client.request("GET", server.url())
    assert len(server.seen) <= 3


@pytest.mark.parametrize("head", [{"X-Long": "x" * 20_000}, {f"X-{n}": "x" for n in range(300)}])
async def test_headers_beyond_the_limits_are_one_sentence(server: Server, head: dict[str, str]) -> None:
    server.says("/", b"", **head)
    async with client_for(server) as client:
        with pytest.raises(ToolFailed, match="answer cannot be read"):
            await client.request("GET", server.url())


async def test_promise_14_nothing_there_is_one_sentence_without_internals(server: Server) -> None:
    port = free_port()
    async with client_for(server, allowed_hosts=[f"127.0.0.1:{port}", f"nowhere.example:{port}"]) as client:
        for url in (f"http://127.0.0.1:{port}/", f"https://127.0.0.1:{port}/"):
            with pytest.raises(ToolFailed, match=r"^The server cannot be reached\.$"):
                await client.request("GET", url)
    async with outside(server) as client:
        with pytest.raises(ToolFailed, match=r"^The server cannot be reached\.$"):
            await client.request("GET", server.url("/", "nowhere.example"))
    server.says("/")
    async with client_for(server) as client:
        with pytest.raises(ToolFailed, match="No secure connection"):
            await client.request("GET", f"https://127.0.0.1:{server.port}/")


async def test_may_go_narrows_the_first_address_and_each_redirect(server: Server) -> None:
    server.leads("/start", "/other")
    server.says("/other")
    async with client_for(server) as client:
        with pytest.raises(ToolFailed, match="may not be fetched here"):
            await client.request("GET", server.url("/other"), may_go=lambda target: target.url.path == "/start")
        with pytest.raises(ToolFailed, match="may not be fetched here"):
            await client.request("GET", server.url("/start"), may_go=lambda target: target.url.path == "/start")
    assert [request.path for request in server.seen] == ["/start"]


async def test_a_proxy_of_the_environment_is_not_asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url("/proxy"))
    server.says("/")
    async with client_for(server) as client:
        assert (await client.request("GET", server.url())).status == 200
    assert [request.path for request in server.seen] == ["/"]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("Example.com", "example.com", None),
        (" api.example.com:8443 ", "api.example.com", 8443),
        ("[::1]:8080", "::1", 8080),
        ("10.0.0.5", "10.0.0.5", None),
    ],
)
def test_the_operators_words_for_a_host(text: str, host: str, port: int | None) -> None:
    assert read_allowed(text) == (host, port)


@pytest.mark.parametrize(
    "text", ["", "http://a", "a:0", "a:99999", "a:b", "*.example.com", "a/b", "::1", "127.1", "a b"]
)
def test_anything_else_is_no_host(text: str) -> None:
    with pytest.raises(ValueError):
        read_allowed(text)


def test_promise_12_no_person_holds_all_connections_of_a_workers_tools() -> None:
    assert MAX_LANES_PER_TENANT * AT_ONCE < CONNECTIONS
