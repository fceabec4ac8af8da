"""The model that is chosen on the page: kept for its owner's eyes, laid over the settings, refused in plain words."""

import os
import stat
from pathlib import Path

import pytest

from abilities.memory.settings import MemorySettings
from abilities.speech.settings import SpeechSettings
from core.errors import ConfigError, RequestRefused
from onevalet.settings import Settings
from providers.models.speech import SILENT
from workbench.dev.model.choice import FILE, Baseline, Choice, keep_choice, read_kept
from workbench.dev.model.chooser import FIXED, ModelChooser, preset_of
from workbench.dev.processes.assistant import Assistant
from workbench.dev.processes.child import Wanted

LOCAL = Choice(
    {
        "ONEVALET_MODEL": "openai/small",
        "OPENAI_API_BASE": "http://127.0.0.1:9/v1",
        "ONEVALET_MODEL_KEYS": "none",
        "ONEVALET_LOOP_CONTEXT_TOKEN_LIMIT": "32768",
        "ONEVALET_MEMORY": "rules",
    }
)
HOSTED = Choice({"ONEVALET_MODEL": "openai/gpt-5-mini", "ONEVALET_MODEL_KEYS": "sk-secret"})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to keep it in, and an environment that is put back."""
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:1/v1")
    return tmp_path


def settings_of(home: Path, **more: object) -> Settings:
    return Settings(_env_file=None, onevalet_home=home, **more)  # type: ignore[arg-type]


def test_a_choice_is_kept_for_its_owners_eyes_and_outlives_dev(home: Path) -> None:
    for choice in (LOCAL, HOSTED):
        keep_choice(home, choice)
        assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
        kept = read_kept(settings_of(home))
        assert kept.choice == choice
        assert kept.settings.onevalet_model == choice.model
        assert not kept.is_fixed
        kept.baseline.export(Choice())
    assert kept.settings.secrets() == ["sk-secret"]
    keep_choice(home, Choice())
    assert read_kept(settings_of(home)).settings.onevalet_model == ""


def test_a_choice_leaves_nothing_of_the_one_before(home: Path) -> None:
    settings = settings_of(home, loop={"max_iterations": "7"})
    baseline = Baseline(settings)
    local = baseline.with_choice(settings, LOCAL)
    assert local.loop == {"max_iterations": "7", "context_token_limit": "32768"}
    assert local.of(MemorySettings).onevalet_memory == "rules"
    baseline.export(LOCAL)
    assert os.environ["OPENAI_API_BASE"] == "http://127.0.0.1:9/v1"
    hosted = baseline.with_choice(local, HOSTED)
    assert hosted.loop == {"max_iterations": "7"}
    assert hosted.of(MemorySettings).onevalet_memory == "on"
    baseline.export(HOSTED)
    assert os.environ["OPENAI_API_BASE"] == "http://127.0.0.1:1/v1"
    assert baseline.with_choice(hosted, Choice()) == settings.model_copy(update={"onevalet_speech_model": SILENT})


def test_the_demo_models_voice_is_heard_where_nobody_named_another(home: Path) -> None:
    def voice_of(choice: Choice, **more: object) -> str:
        settings = settings_of(home, **more)
        changed = Baseline(settings).with_choice(settings, Choice())
        return Baseline(settings).with_choice(changed, choice).of(SpeechSettings).speech_model

    assert voice_of(Choice()) == SILENT
    assert voice_of(HOSTED) == ""
    assert voice_of(Choice(), onevalet_speech_model="openai/tts-1") == "openai/tts-1"
    assert voice_of(HOSTED, onevalet_speech_model="openai/tts-1") == "openai/tts-1"
    assert voice_of(Choice(), onevalet_model="openai/mine") == ""


def test_a_model_that_the_operator_names_goes_before_what_is_kept(home: Path) -> None:
    keep_choice(home, HOSTED)
    kept = read_kept(settings_of(home, onevalet_model="openai/mine"))
    assert (kept.settings.onevalet_model, kept.is_fixed) == ("openai/mine", True)


def test_a_file_that_cannot_be_used_says_what_to_do(home: Path) -> None:
    (home / FILE).write_text("ONEVALET_MODEL=openai/x\nONEVALET_MEMORY=magic\n")
    with pytest.raises(ConfigError, match=r"model\.env cannot be used: .*Delete it to have the demo model"):
        read_kept(settings_of(home))


@pytest.mark.parametrize(
    ("preset", "model", "key", "told"),
    [
        ("openai", "gpt-5-mini", "", "A key is one word"),
        ("openai", "gpt-5-mini", "two words", "A key is one word"),
        ("openai", "gpt-5-mini", "one,two", "A key is one word"),
        ("openai", "", "sk-secret", "Say also the name of the model"),
        ("server", "small", "", "Say also: its address"),
        ("demo", "demo", "", "There is no such provider"),
        ("nobody", "x", "y", "There is no such provider"),
    ],
)
async def test_what_cannot_be_tried_is_refused_in_a_sentence(
    home: Path, preset: str, model: str, key: str, told: str
) -> None:
    with pytest.raises(RequestRefused, match=told):
        await chooser_of(home).choose_key(preset_of(preset), model, key, {})


async def test_an_address_needs_its_scheme_and_a_fixed_model_stays(home: Path) -> None:
    with pytest.raises(RequestRefused, match="begins with http"):
        await chooser_of(home).choose_key(preset_of("server"), "small", "", {"OPENAI_API_BASE": "127.0.0.1:8000"})
    chooser = chooser_of(home)
    chooser.fixed = True
    with pytest.raises(RequestRefused) as refused:
        await chooser.choose_key(preset_of("openai"), "gpt-5-mini", "sk-secret", {})
    assert refused.value.reason == FIXED


def chooser_of(home: Path) -> ModelChooser:
    """Return a chooser beside an assistant that is not started."""
    settings = settings_of(home)
    wanted = Wanted(settings, frozenset(), "")
    return ModelChooser(Baseline(settings), Choice(), Assistant(wanted), lambda _: None)
