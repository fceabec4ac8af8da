"""What a command reads before it runs."""

import os
from pathlib import Path

import pytest
import structlog

from onevalet.cli import runner
from onevalet.wiring import logs

NAMES = ("OPENAI_API_BASE", "OPENAI_API_KEY", "GROQ_API_KEY", "onevalet_model", "ONEVALET_LOOP_MAX_OUTPUT_TOKENS")
DOTENV = """
OPENAI_API_BASE=http://127.0.0.1:11434/v1
OPENAI_API_KEY=from-the-file
GROQ_API_KEY=
onevalet_model=openai/local
ONEVALET_LOOP_MAX_OUTPUT_TOKENS=2048
"""


def test_the_providers_variables_of_dotenv_are_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """litellm reads them there; ours are settings, which are read for themselves."""
    monkeypatch.chdir(tmp_path)
    for name in NAMES:  # set first, so that it is as it was after the test
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    monkeypatch.setattr(logs, "set_up_logs", lambda *_, **__: None)  # of this process, for every test after this one
    (tmp_path / ".env").write_text(DOTENV)
    settings = runner.read_settings()
    assert {name: os.environ[name] for name in NAMES if name in os.environ} == {
        "OPENAI_API_BASE": "http://127.0.0.1:11434/v1",
        "OPENAI_API_KEY": "from-the-environment",
    }
    assert (settings.onevalet_model, settings.loop) == ("openai/local", {"max_output_tokens": "2048"})


def test_a_name_without_effect_is_logged_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logs, "set_up_logs", lambda *_, **__: None)
    (tmp_path / ".env").write_text("ONEVALET_RECALL=both\nONEVALET_RULE=rules.toml\n")
    with structlog.testing.capture_logs() as logged:
        runner.read_settings()
    assert [(entry["event"], entry["setting"]) for entry in logged] == [
        ("setting_retired", "ONEVALET_RECALL"),
        ("setting_unknown", "ONEVALET_RULE"),
    ]
