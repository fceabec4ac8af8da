"""The server that transcribes recordings, and the key for it."""

from pathlib import Path

import pytest

from abilities.files.settings import HearingSettings
from core.errors import ConfigError
from onevalet.settings import load_settings

MODEL = "openai/whisper-1"


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_servers_key_is_read_from_its_url_and_shown_in_no_log() -> None:
    url = "http://:sk-%2Fown@127.0.0.1:8000/v1/"
    settings = load_settings(onevalet_transcription_model=MODEL, onevalet_transcription_url=url)
    assert settings.of(HearingSettings).own_server == ("http://127.0.0.1:8000/v1", "sk-/own")
    assert {url, "sk-/own", "sk-%2Fown"} <= set(settings.secrets())
    assert "sk-" not in repr(settings)


@pytest.mark.parametrize(
    "url",
    ["whisper", "ftp://127.0.0.1/v1", "http:///v1", "http://127.0.0.1:port/v1", "http://sk-user@127.0.0.1/v1"],
)
def test_a_url_that_names_no_server_is_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^ONEVALET_TRANSCRIPTION_URL cannot be used: ") as refused:
        load_settings(onevalet_transcription_model=MODEL, onevalet_transcription_url=url)
    assert url not in str(refused.value)


@pytest.mark.parametrize(
    ("model", "keys"),
    [(MODEL, ("sk-1", "sk-2")), ("groq/whisper-large-v3", ()), ("whisper-1", ())],
    ids=["its provider", "another", "no provider"],
)
def test_the_key_of_the_main_model_is_for_its_provider_alone(model: str, keys: tuple[str, ...]) -> None:
    settings = load_settings(onevalet_model="openai/gpt-5-mini", onevalet_model_keys="sk-1, sk-2")
    assert settings.keys_for(model) == keys
