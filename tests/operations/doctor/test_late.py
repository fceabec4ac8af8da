"""Who answers too late is not told as away: they are asked once more, alone, and the remedy says that they may be busy.

Every probe that asks anybody asks a server here that takes connections and says nothing. Only time runs faster.
"""

import asyncio
import base64
import selectors
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core.db.database import Database
from core.messaging.channels import Check
from onevalet.settings import load_settings
from onevalet.wiring.models import build_client
from operations.doctor.every import all_probes
from operations.doctor.examine import examine
from operations.doctor.types import Area, Finding, Installation, Probe, State

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough

SPEED = 20
ASK_NOBODY = {"packages", "disk", "settings", "receipts"}
TOKEN = "x" * 35
AS_ANOTHER = pytest.mark.whole("it waits as another probe does")


class _HurriedSelector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> Any:
        return super().select(timeout / SPEED if timeout else timeout)


class HurriedLoop(asyncio.SelectorEventLoop):
    """A loop for which a second passes in a twentieth."""

    def __init__(self) -> None:
        super().__init__(_HurriedSelector())

    def time(self) -> float:
        return super().time() * SPEED


@asynccontextmanager
async def silent_server() -> AsyncIterator[int]:
    """Take connections and say nothing; yield the port."""
    held: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in held:
            writer.close()


async def examine_silent(probes: Sequence[Probe], monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """Return what is found where all that can be asked is silent."""
    async with silent_server() as port:
        http = f"http://127.0.0.1:{port}"
        monkeypatch.setenv("OPENAI_API_BASE", http)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        for name, value in {
            "ISSUER": http,
            "CLIENT_ID": "a",
            "CLIENT_SECRET": "b",
            "IMAP": "imaps://example.org",
        }.items():
            monkeypatch.setenv(f"ONEVALET_OIDC_WORK_{name}", value)
        settings = load_settings(
            public_url=http,
            onevalet_secret_keys=base64.b64encode(bytes(32)).decode(),
            onevalet_model="openai/silent",
            onevalet_transcription_model="openai/whisper-1",
            onevalet_transcription_url=http,
            onevalet_speech_model="openai/tts-1",
            onevalet_search="searxng",
            onevalet_search_url=http,
            onevalet_fetch_hosts=(f"127.0.0.1:{port}",),
            twilio_account_sid="AC" + "0" * 32,
            twilio_auth_token="none",
            twilio_from="+15550100000",
            twilio_api_url=http,
            slack_bot_token="xoxb-none",
            slack_signing_secret="none",
            slack_api_url=f"{http}/api/",
            telegram_bot_token=f"1:{TOKEN}",
            telegram_api_url=http,
            smtp_host="127.0.0.1",
            smtp_port=port,
            smtp_from="valet@example.org",
            smtp_security="none",
            onevalet_mail_address="valet@example.org",
            onevalet_mail_imap_url=f"imap://valet:none@127.0.0.1:{port}",
            onevalet_mail_authserv_id="example.org",
            ntfy_url=http,
            ntfy_token="tk_none",
            apprise_url=http,
        )
        database = Database(f"postgresql://none:none@127.0.0.1:{port}/none", patience=3, size=4)
        try:
            return await examine(Installation(settings, database, f"redis://127.0.0.1:{port}/0"), probes)
        finally:
            await database.close()


@pytest.fixture(scope="module")
def _model_is_loaded() -> None:
    """Load litellm: what that takes is not the provider's time."""
    asyncio.run(build_client(load_settings(onevalet_model="openai/silent")).warm_up())


def run_hurried(probes: Sequence[Probe], monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """Return what is found where all are silent, on a loop of the test's own."""
    with asyncio.Runner(loop_factory=HurriedLoop) as runner:
        return runner.run(examine_silent(probes, monkeypatch))


@pytest.mark.usefixtures("_model_is_loaded")
@pytest.mark.parametrize(
    "probe",
    [
        pytest.param(probe, id=probe.name, marks=[] if probe.name == "redis" else [AS_ANOTHER])
        for probe in all_probes()
        if probe.name not in ASK_NOBODY
    ],
)
def test_a_probe_whose_answer_is_late_says_that_it_may_be_busy(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    red = [finding for finding in run_hurried([probe], monkeypatch) if not finding.ok]
    assert red
    for finding in red:
        assert finding.detail.startswith("took too long: "), finding
        assert finding.fix.startswith("see whether it, or this machine, has too much to do"), finding
    if probe.name == "channels":
        assert {finding.what.partition(":")[0] for finding in red} == {"sms", "slack", "telegram", "email"}


async def test_who_is_late_only_in_company_is_well_and_the_machine_is_busy() -> None:
    asked: list[str] = []

    def late_at_first(name: str) -> Probe:
        async def look(_: Installation) -> list[Check]:
            asked.append(name)
            if asked.count(name) == 1:
                raise TimeoutError
            return [Check(name, True, "answers")]

        return Probe(Area.REDIS, name, look)

    found = await examine(Installation(load_settings()), [late_at_first("redis"), late_at_first("other")])
    assert [(finding.what, finding.state) for finding in found] == [
        ("busy", State.ADVICE),
        ("redis", State.GOOD),
        ("other", State.GOOD),
    ]
    assert found[0].detail == "too late at first, in time when asked alone: redis, other"
    assert asked == ["redis", "other", "redis", "other"]


async def test_who_refuses_is_asked_once_and_told_as_away() -> None:
    asked: list[str] = []

    async def refuse(_: Installation) -> list[Check]:
        asked.append("redis")
        return [Check.failed("redis", ConnectionRefusedError(), "does not answer", "start it")]

    [away] = await examine(Installation(load_settings()), [Probe(Area.REDIS, "redis", refuse)])
    assert (away.state, away.detail, away.fix, asked) == (State.RED, "does not answer", "start it", ["redis"])
