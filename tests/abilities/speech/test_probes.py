"""`doctor` has a word spoken."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from abilities.speech.probes import check_speech
from core.messaging.channels import Check
from onevalet.settings import Settings, load_settings
from providers.models.speech import SILENT
from tests.scripted_speech import ScriptedSpeech, Spoken, fails, hangs, says

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def named(server: ScriptedSpeech, monkeypatch: pytest.MonkeyPatch, model: str = "openai/tts-1") -> Settings:
    """Return settings that name a model of a server."""
    monkeypatch.setenv("OPENAI_API_BASE", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    return load_settings(onevalet_speech_model=model)


async def test_a_server_that_speaks_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedSpeech() as server:
        settings = named(server, monkeypatch)
        assert await check_speech(settings, 150) == [Check("answers by voice", True, "openai/tts-1 answers")]
        await check_speech(named(server, monkeypatch, "openai/tts-1 nova"), 150)
    assert [call.body["voice"] for call in server.calls] == ["alloy", "nova"]
    assert {call.key for call in server.calls} == {"sk-1"}


async def test_the_models_key_serves_for_speech_of_the_same_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedSpeech() as server:
        settings = named(server, monkeypatch)
        same: dict[str, object] = {"onevalet_model": "openai/gpt", "onevalet_model_keys": (SecretStr("sk-2"),)}
        await check_speech(settings.model_copy(update=same), 150)
    assert [call.key for call in server.calls] == ["sk-2"]


async def test_the_demo_models_voice_needs_no_server() -> None:
    settings = load_settings(onevalet_speech_model=SILENT)
    assert await check_speech(settings) == [Check("answers by voice", True, f"{SILENT} answers")]


async def test_without_a_model_it_says_how() -> None:
    [check] = await check_speech(load_settings())
    assert (check.ok, "ONEVALET_SPEECH_MODEL" in check.fix) == (True, True)


@pytest.mark.parametrize(
    ("answer", "detail", "fix"),
    [
        (fails(400), "it refuses to speak a word", "a voice of its own"),
        (fails(401), "the key is refused", "OPENAI_API_KEY"),
        (fails(404), "there is no such model", "the model's name"),
        (says(b"<html>"), "does not answer with a recording", "OPENAI_API_BASE"),
        (hangs(), "no answer within 0 s", "OPENAI_API_BASE"),
    ],
    ids=["400", "401", "404", "a page", "hangs"],
)
async def test_a_server_that_fails_is_not_ok_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, answer: Spoken, detail: str, fix: str
) -> None:
    async with ScriptedSpeech([answer] * 2) as server:
        [check] = await check_speech(named(server, monkeypatch), 0 if answer.hangs else 150)
    assert not check.ok
    assert detail in check.detail
    assert fix in check.fix
