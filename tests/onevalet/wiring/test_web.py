"""A running web process is light: neither the model stack nor the plugins are in its memory, which is as stated."""

import asyncio
import base64
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.readiness import is_ready
from tests.shipping.sizes import is_about, resident, stated
from workbench.simulator.config import SlackConfig, TelegramConfig, TwilioConfig

ROOT = Path(__file__).parents[3]
HEAVY = ("litellm", "openai", "typeagent", "mcp", "agents", "jobs", "notify", "opentelemetry")


async def test_a_running_web_process_has_no_model_stack_and_no_plugins_in_memory(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    port = free_port()
    twilio, slack, telegram = TwilioConfig(), SlackConfig(), TelegramConfig()
    loaded = tmp_path / "modules.json"
    code = (
        "import atexit, json, sys\n"
        f"atexit.register(lambda: open({str(loaded)!r}, 'w').write(json.dumps(sorted(sys.modules))))\n"
        "sys.argv = ['onevalet', 'web']\n"
        "from onevalet.cli.main import main\n"
        "main()\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        code,
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "PORT": str(port),
            "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
            "PUBLIC_URL": "https://valet.example",
            "TWILIO_ACCOUNT_SID": twilio.account_sid,
            "TWILIO_AUTH_TOKEN": twilio.auth_token,
            "TWILIO_FROM": twilio.number,
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_SIGNING_SECRET": slack.signing_secret,
            "TELEGRAM_BOT_TOKEN": telegram.bot_token,
            "TELEGRAM_WEBHOOK_SECRET": "secret-of-the-webhook",
        },
        stderr=asyncio.subprocess.PIPE,
    )
    await eventually(partial(is_ready, f"http://127.0.0.1:{port}"), "readiness", within=2 * PATIENCE)
    size = resident([process.pid])
    assert is_about(size, stated("web")[0]), (size, "docs/deploy.md, Sizes")
    process.send_signal(signal.SIGTERM)
    _, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, errors.decode()
    modules = json.loads(loaded.read_text())
    assert "channels.http.app" in modules
    assert [name for name in modules if name.split(".")[0] in HEAVY] == []
    assert "operations.console.door" in modules
    assert "operations.console.routes" not in modules, "nobody has looked yet"
