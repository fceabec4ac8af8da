"""`doctor` has one second of silence transcribed."""

from pathlib import Path

import pytest

from abilities.files.probes import check_transcription
from core.files.kinds import FileKind, kind_of
from core.messaging.channels import Check
from onevalet.settings import Settings, load_settings
from tests.scripted_transcription import Heard, ScriptedTranscription, fails, hangs, heard, says

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def named(server: ScriptedTranscription) -> Settings:
    """Return settings that name a server."""
    return load_settings(onevalet_transcription_model="openai/whisper-1", onevalet_transcription_url=server.url)


async def test_a_server_that_hears_silence_is_ok() -> None:
    async with ScriptedTranscription([heard("")]) as server:
        assert await check_transcription(named(server), 150) == [Check("voice notes", True, "openai/whisper-1 answers")]
        assert kind_of(server.calls[0].body) is FileKind.AUDIO
        assert len(server.calls[0].body) == 44 + 32_000


async def test_without_a_model_it_says_how() -> None:
    [check] = await check_transcription(load_settings())
    assert (check.ok, "ONEVALET_TRANSCRIPTION_MODEL" in check.fix) == (True, True)


@pytest.mark.parametrize(
    ("answer", "detail", "fix"),
    [
        (fails(400), "it refuses a second of silence", "a model for transcription"),
        (fails(401), "the key is refused", "the key in ONEVALET_TRANSCRIPTION_URL"),
        (fails(404), "there is no such model", "the model's name"),
        (says(b"<html>"), "does not answer with a transcript", "ONEVALET_TRANSCRIPTION_URL"),
        (hangs(), "no answer within 0 s", "ONEVALET_TRANSCRIPTION_URL"),
    ],
    ids=["400", "401", "404", "a page", "hangs"],
)
async def test_a_server_that_fails_is_not_ok_and_says_what_to_do(answer: Heard, detail: str, fix: str) -> None:
    async with ScriptedTranscription([answer] * 2) as server:
        [check] = await check_transcription(named(server), 0 if answer.hangs else 150)
    assert not check.ok
    assert detail in check.detail
    assert fix in check.fix
