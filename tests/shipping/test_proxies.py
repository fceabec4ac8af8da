"""The proxies of docs/deploy.md, run: what reaches `web` is what the provider signed."""

import asyncio
import contextlib
import os
import shlex
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import aiohttp
import psutil
import pytest
from aiohttp import web
from yarl import URL

from channels.http.app import MAX_BODY
from tests.eventually import eventually
from tests.needs import need
from tests.ports import free_port
from tests.shipping.test_deploy_page import block

pytestmark = pytest.mark.slow

HOST = "valet.example.com"
PATH = "/sms/inbound/a%2Fb?x=%2B+1&y=a%20b"
BODY = b"Body=caf%C3%A9+%26+more"


@dataclass(slots=True)
class Upstream:
    """What stands in for `web`, and what reached it: path, host, body and whether it came in one piece."""

    came: list[tuple[str, str, bytes]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        with contextlib.suppress(ConnectionResetError):
            self.came.append((request.raw_path, request.host, await request.read()))
        return web.Response(text="taken")


@asynccontextmanager
async def upstream() -> AsyncIterator[tuple[Upstream, int]]:
    """Serve the stand-in on a free port."""
    taken, app = Upstream(), web.Application(client_max_size=2 * MAX_BODY)
    app.router.add_route("*", "/{path:.*}", taken.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield taken, runner.addresses[0][1]
    finally:
        await runner.cleanup()


def nginx(folder: Path, port: int, behind: int) -> list[str]:
    """Write the page's nginx into a configuration of its own; return the command that runs it."""
    certificate = f"-keyout {folder}/key.pem -out {folder}/cert.pem -subj /CN={HOST} -days 1 -nodes"
    openssl = shlex.split(f"openssl req -x509 -newkey rsa:2048 {certificate}")
    subprocess.run(openssl, check=True, capture_output=True)
    shown = block("docs/deploy.md", "nginx")
    live = f"/etc/letsencrypt/live/{HOST}"
    for written, here in (
        ("server 127.0.0.1:8080;", f"server 127.0.0.1:{behind};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        (f"{live}/fullchain.pem", f"{folder}/cert.pem"),
        (f"{live}/privkey.pem", f"{folder}/key.pem"),
    ):
        assert written in shown
        shown = shown.replace(written, here)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi"))
    temporary += "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("uwsgi", "scgi"))
    user = "user root;\n" if os.geteuid() == 0 else ""  # else its workers cannot write below a private folder
    config = folder / "nginx.conf"
    config.write_text(
        f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{shown}}}\n"
    )
    return ["nginx", "-e", f"{folder}/log", "-c", str(config)]


def caddy(folder: Path, port: int, behind: int) -> list[str]:
    """Write the page's Caddyfile, as its older versions want it where one is installed; without a certificate."""
    shown = block("docs/deploy.md", "caddyfile")
    assert shown.startswith(f"{HOST} {{")
    shown = shown.replace(f"{HOST} {{", f"http://{HOST}:{port} {{").replace("127.0.0.1:8080", f"127.0.0.1:{behind}")
    version = subprocess.run(["caddy", "version"], check=True, capture_output=True, text=True).stdout
    if tuple(int(part) for part in version.split()[0].lstrip("v").split("-")[0].split(".")) < (2, 6, 4):
        shown = shown.replace("request_buffers 256KiB", "buffer_requests\n        max_buffer_size 256KiB")
    config = folder / "Caddyfile"
    config.write_text("{\n    admin off\n    auto_https off\n}\n" + shown)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(config)]


PROXIES = {"nginx": (nginx, "https"), "caddy": (caddy, "http")}


@asynccontextmanager
async def proxy(name: str, folder: Path, behind: int) -> AsyncIterator[str]:
    """Run a proxy in front of a port, and yield its address once it listens."""
    port = free_port(1)
    make, scheme = PROXIES[name]
    command = make(folder, port, behind)
    with (folder / "err").open("w") as errors:
        process = subprocess.Popen(command, stdout=errors, stderr=errors, cwd=folder)  # noqa: ASYNC220 - ended below
    try:
        await eventually(partial(_listens, process, port, folder / "err"), f"{name} at its port")
        yield f"{scheme}://127.0.0.1:{port}"
    finally:
        children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.terminate()
        await asyncio.to_thread(process.wait)
        psutil.wait_procs(children, timeout=10)


async def _listens(process: "subprocess.Popen[bytes]", port: int, errors: Path) -> bool:
    if process.poll() is not None:
        raise RuntimeError(errors.read_text())  # noqa: ASYNC240 - the last that the test does
    with contextlib.suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    return False


@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize("name", PROXIES)
async def test_what_a_proxy_hands_on_is_what_was_signed(name: str, tmp_path: Path) -> None:
    need(name)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    async with (
        upstream() as (web_process, behind),
        proxy(name, tmp_path, behind) as address,
        aiohttp.ClientSession(headers={"Host": HOST}) as session,
    ):

        async def post(body: bytes) -> int:
            async with session.post(URL(address + PATH, encoded=True), data=body, ssl=context) as answer:
                return answer.status

        assert await post(BODY) == 200
        assert web_process.came == [(PATH, HOST, BODY)]
        assert await post(b"x" * MAX_BODY) == 200
        with contextlib.suppress(aiohttp.ClientConnectionError):  # the rest of it may not be read
            assert await post(b"x" * (MAX_BODY + 1)) in (413, 502), "an older Caddy says the second"
        assert len(web_process.came) == 2, "what is too large does not reach web whole"
