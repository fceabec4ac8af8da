"""`doctor` asks the model, the mail server and the push servers, and names what could not be delivered."""

import base64
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.messaging.channels import Check
from onevalet.cli.doctor import run_checks
from onevalet.cli.outside_checks import check_model, outside_checks
from onevalet.settings import Settings, load_settings
from tests.core.harness import Store
from tests.notify.email.test_email import serving
from tests.scripted_model import Reply, ScriptedModel, cut, error, hang, text

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    # litellm 1.106 looks through an answer in a way that pydantic will drop.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@asynccontextmanager
async def model(monkeypatch: pytest.MonkeyPatch, reply: Reply) -> AsyncIterator[Settings]:
    """Serve one answer of a model, and yield settings that name it."""
    async with ScriptedModel([reply]) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2b7e")
        yield load_settings(onevalet_model="openai/scripted")


async def test_a_model_that_answers_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model(monkeypatch, text("ready")) as settings:
        assert await check_model(settings, 150) == [Check("model", True, "openai/scripted answers")]


@pytest.mark.parametrize(
    ("reply", "detail", "fix"),
    [
        (
            error(401, message="Wrong key: sk-canary-2b7e"),
            "the provider refuses the key",
            "ONEVALET_MODEL_KEYS",
        ),
        (error(429, code="insufficient_quota"), "its account is used up", "top up"),
        (error(429), "the provider limits us now", "wait"),
        (error(400), "the provider refuses a plain question", "for chat"),
        (error(503), "does not answer", "OPENAI_API_BASE"),
        (cut(), "does not answer", "OPENAI_API_BASE"),
    ],
    ids=["key", "quota", "limit", "rejected", "away", "cut"],
)
async def test_a_model_that_fails_is_not_ok_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, reply: Reply, detail: str, fix: str
) -> None:
    async with model(monkeypatch, reply) as settings:
        [check] = await check_model(settings, 150)
    assert not check.ok
    assert detail in check.detail
    assert fix in check.fix
    assert "canary" not in check.detail + check.fix


async def test_a_model_that_hangs_is_not_ok_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model(monkeypatch, hang(60)) as settings:
        began = time.monotonic()
        [check] = await check_model(settings, 1)
    assert (check.ok, check.detail) == (False, "openai/scripted: no answer within 1 s")
    assert time.monotonic() - began < 30


async def test_a_model_of_no_provider_and_the_demo_model_are_told_apart() -> None:
    [check] = await check_model(load_settings(onevalet_model="nosuchmodel"))
    assert (check.ok, "litellm knows no provider of nosuchmodel" in check.fix) == (False, True)
    [check] = await check_model(load_settings())
    assert (check.ok, check.detail) == (True, "the demo model")


async def test_the_mail_server_is_asked_where_it_is_set() -> None:
    assert [check.what for check in await outside_checks(load_settings())] == ["model", "voice notes", "accounts"]
    async with serving() as server:
        settings = load_settings(
            smtp_host="127.0.0.1", smtp_port=server.port, smtp_from="valet@example.org", smtp_security="none"
        )
        [check] = [check for check in await outside_checks(settings) if check.what == "email"]
        assert (check.ok, check.detail) == (True, f"127.0.0.1:{server.port} takes mail from us")
        assert server.kept == []
        locked = settings.model_copy(update={"smtp_user": "ann", "smtp_password": None})
        [check] = [check for check in await outside_checks(locked) if check.what == "email"]
        assert (check.ok, "SMTP_USER" in check.fix) == (False, True)
    [check] = [check for check in await outside_checks(settings) if check.what == "email"]
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
    others = {"model": True, "voice notes": True, "accounts": True}
    app, push = web.Application(), Push()
    app.add_routes([web.get("/v1/account", push.account), web.get("/v1/health", push.health)])
    app.add_routes([web.get("/status", push.health)])
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        for token, ok in (("tk_right", True), ("tk_wrong", False), ("", True)):
            settings = load_settings(ntfy_url=url, ntfy_token=token or None, apprise_url=url)
            found = {check.what: check.ok for check in await outside_checks(settings)}
            assert found == others | {"push: ntfy": ok, "push: apprise": True}
    found = {check.what: check.ok for check in await outside_checks(settings)}
    assert found == others | {"push: ntfy": False, "push: apprise": False}


async def test_what_could_not_be_delivered_is_listed_by_id(store: Store, redis_url: str, tmp_path: Path) -> None:
    await store.enqueue(*(f"answer {number}" for number in range(7)))
    ids = await store.column("select id from outbound order by created_at desc, id")
    await store.admin.execute("update outbound set state = 'failed', reason = 'gone'")
    await store.admin.execute("update turns set state = 'poison'")
    settings = load_settings(
        database_url=store.url,
        redis_url=redis_url,
        onevalet_home=tmp_path / "home",
        onevalet_secret_keys=base64.b64encode(os.urandom(32)).decode(),
    )
    [trouble] = [check for check in await run_checks(settings) if check.what == "trouble"]
    [turn] = await store.column("select id from turns")
    listed = ", ".join(str(id) for id in ids[:5])
    assert trouble.detail == f"0 ambiguous, 7 not deliverable ({listed} …), 1 set aside ({turn})"
    assert trouble.fix == "see `trace ID` for each"
