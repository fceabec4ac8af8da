"""`doctor` asks the mail server and the push servers where they are set."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from onevalet.settings import load_settings
from operations.doctor.mail_and_push import check_mail, check_push
from tests.notify.email.test_email import serving


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def test_the_mail_server_is_asked_where_it_is_set() -> None:
    assert await check_mail(load_settings()) == []
    async with serving() as server:
        settings = load_settings(
            smtp_host="127.0.0.1", smtp_port=server.port, smtp_from="valet@example.org", smtp_security="none"
        )
        [check] = await check_mail(settings)
        assert (check.ok, check.detail) == (True, f"127.0.0.1:{server.port} takes mail from us")
        assert server.kept == []
        locked = settings.model_copy(update={"smtp_user": "ann", "smtp_password": None})
        [check] = await check_mail(locked)
        assert (check.ok, "SMTP_USER" in check.fix) == (False, True)
    [check] = await check_mail(settings)
    assert (check.ok, "no connection" in check.detail) == (False, True)


@dataclass(slots=True)
class Push:
    """An ntfy server and an Apprise API in one."""

    token: str = "tk_right"

    async def account(self, request: web.Request) -> web.Response:
        """Show the account of a token, as ntfy does."""
        good = request.headers.get("Authorization") == f"Bearer {self.token}"
        return web.json_response({"username": "valet"} if good else {"code": 40101}, status=200 if good else 401)

    async def health(self, _: web.Request) -> web.Response:
        """Answer as both do."""
        return web.json_response({"healthy": True})


async def test_the_push_servers_are_asked_where_they_are_set() -> None:
    assert await check_push(load_settings()) == []
    app, push = web.Application(), Push()
    app.add_routes([web.get("/v1/account", push.account), web.get("/v1/health", push.health)])
    app.add_routes([web.get("/status", push.health)])
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        for token, ok in (("tk_right", True), ("tk_wrong", False), ("", True)):
            settings = load_settings(ntfy_url=url, ntfy_token=token or None, apprise_url=url)
            found = {check.what: check.ok for check in await check_push(settings)}
            assert found == {"push: ntfy": ok, "push: apprise": True}
    found = {check.what: check.ok for check in await check_push(settings)}
    assert found == {"push: ntfy": False, "push: apprise": False}
