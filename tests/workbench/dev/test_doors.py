"""The doors of `dev`: nothing that the repository shows opens them, and no page or machine elsewhere reaches them."""

import asyncio
import hashlib
import hmac
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
import pytest

from channels.sms.verify import sign
from tests.forker import ROOT, Forker
from tests.ports import free_port
from tests.running_dev import RunningDev, dev_environment, running_dev
from workbench.simulator.config import PEOPLE, SlackConfig, TwilioConfig

pytestmark = [pytest.mark.xdist_group("dev"), pytest.mark.slow]

OWNER = PEOPLE[0]
FORM = "application/x-www-form-urlencoded"


async def test_promise_12_what_is_signed_with_the_repositorys_secrets_is_refused(dev: RunningDev) -> None:
    for path, headers, body in (_forged_text(dev.url), _forged_slack_message()):
        assert await _post(dev, path, headers, body) in (401, 403), path


async def test_the_gateway_of_dev_answers_no_foreign_host(dev: RunningDev) -> None:
    async with aiohttp.ClientSession() as session:
        for path, status in (
            ("/", 421),
            ("/webhooks/sms", 421),
            ("/events/x", 421),
            ("/healthz", 200),
            ("/readyz", 200),
        ):
            headers = {"Host": f"evil.example:{dev.port}"}
            async with session.get(f"{dev.url}{path}", headers=headers, allow_redirects=False) as answer:
                assert answer.status == status, path
        async with session.get(f"http://localhost:{dev.port}/", allow_redirects=False) as answer:
            assert answer.status == 302


@pytest.mark.parametrize(
    ("setting", "value"),
    [("HOST", "0.0.0.0"), ("PUBLIC_URL", "https://valet.example")],  # noqa: S104
)
async def test_dev_for_others_without_a_real_channel_is_refused_in_one_sentence(
    tmp_path: Path, setting: str, value: str
) -> None:
    environment = dev_environment(tmp_path / "home", free_port(1)) | {setting: value}
    ended = await asyncio.to_thread(_run_dev, environment)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.strip().count("\n") == 0, ended.stderr
    assert f"{setting} is {value}" in ended.stderr


async def test_dev_with_a_model_of_nobody_is_refused_before_it_starts_anything(tmp_path: Path) -> None:
    environment = dev_environment(tmp_path / "home", free_port(1)) | {"ONEVALET_MODEL": "nosuchmodel"}
    ended = await asyncio.to_thread(_run_dev, environment)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr == (
        "ONEVALET_MODEL cannot be used: litellm knows no provider of nosuchmodel; name one, such as"
        " openai/nosuchmodel.\n"
    )
    assert "Starting" not in ended.stdout


async def test_dev_behind_a_tunnel_serves_the_real_channel_and_no_simulated_one(tmp_path: Path, forker: Forker) -> None:
    tunnel, secret = "my-tunnel.example", "a-secret-of-the-webhook"
    settings = {
        "PUBLIC_URL": f"https://{tunnel}",
        "TELEGRAM_BOT_TOKEN": "7000000009:AAof-a-bot-that-is-real-0123456789-01",
        "TELEGRAM_WEBHOOK_SECRET": secret,
        "TELEGRAM_API_URL": "http://127.0.0.1:9",
    }
    with running_dev(forker, tmp_path / "home", signal.SIGTERM, settings) as dev:
        sentence = f"only, but PUBLIC_URL is https://{tunnel}: unset PUBLIC_URL, or set SLACK_* for the real one"
        assert sentence in dev.shown, dev.shown
        for path, headers, body in (_forged_text(dev.url), _forged_slack_message()):
            assert await _post(dev, path, headers, body) == 404, path
        headers = {"X-Telegram-Bot-Api-Secret-Token": secret, "Content-Type": "application/json", "Host": tunnel}
        assert await _post(dev, "/webhooks/telegram", headers, '{"update_id": 1}') == 200
        headers["Host"] = "evil.example"
        assert await _post(dev, "/webhooks/telegram", headers, '{"update_id": 2}') == 421
        # As nginx' bare proxy_pass asks, with no header of its own, and as others do.
        for told in ({}, {"X-Real-IP": "203.0.113.9"}, {"Via": "1.1 proxy"}, {"CF-Connecting-IP": "203.0.113.9"}):
            for host in (f"127.0.0.1:{dev.port}", tunnel):
                assert await _status(dev, "/console/people", {"Host": host, **told}) == 401, (host, told)
        assert await _status(dev, "/", {}) == 404


async def test_the_console_of_dev_is_open_on_this_machine_and_through_no_proxy(dev: RunningDev) -> None:
    assert await _status(dev, "/console/people", {}) == 200
    for told in ("X-Real-IP", "Via", "CF-Connecting-IP", "Forwarded", "X-Client-IP", "X-Original-URL"):
        assert await _status(dev, "/console/people", {told: "203.0.113.9"}) == 401, told


def _run_dev(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "onevalet", "dev"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


async def _post(dev: RunningDev, path: str, headers: dict[str, str], body: str) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{dev.url}{path}", data=body, headers=headers) as answer,
    ):
        return answer.status


async def _status(dev: RunningDev, path: str, headers: dict[str, str]) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{dev.url}{path}", headers=headers, allow_redirects=False) as answer,
    ):
        return answer.status


def _forged_text(url: str) -> tuple[str, dict[str, str], str]:
    twilio = TwilioConfig()
    fields = {
        "MessageSid": "SM" + "e" * 32,
        "AccountSid": twilio.account_sid,
        "From": OWNER.phone,
        "To": twilio.number,
        "Body": "What can you do?",
        "NumMedia": "0",
    }
    signature = sign(twilio.auth_token, f"{url}/webhooks/sms", list(fields.items()))
    return "/webhooks/sms", {"X-Twilio-Signature": signature, "Content-Type": FORM}, urlencode(fields)


def _forged_slack_message() -> tuple[str, dict[str, str], str]:
    slack, now = SlackConfig(), int(time.time())
    event = {
        "type": "message",
        "channel_type": "im",
        "channel": "D0FORGED01",
        "user": OWNER.slack_user,
        "text": "What can you do?",
        "ts": f"{now}.000100",
    }
    body = json.dumps(
        {
            "type": "event_callback",
            "team_id": slack.team_id,
            "api_app_id": slack.app_id,
            "event_id": "Ev0FORGED01",
            "event_time": now,
            "event": event,
        }
    )
    digest = hmac.new(slack.signing_secret.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    headers = {"X-Slack-Request-Timestamp": str(now), "X-Slack-Signature": f"v0={digest}"}
    return "/webhooks/slack", headers | {"Content-Type": "application/json"}, body
