"""The plugin for tests of what stands on OneValet: each test has a folder and an environment of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shipping.harness import ROOT

TESTS = """
import os
import house
from onevalet.settings import load_settings

seen = []


async def test_one(own_home):
    assert house.FLAT == "ours"
    settings = load_settings()
    assert (settings.database_url, settings.onevalet_model, settings.onevalet_home) == (None, "", own_home)
    own_home.mkdir()
    (own_home / "kept").touch()
    seen.append(own_home)
    os.environ["OPENAI_API_BASE"] = "http://one.example"


def test_two(own_home):
    assert not own_home.exists() and seen[0] != own_home and not seen[0].exists()
    assert "OPENAI_API_BASE" not in os.environ
    assert os.environ["ONEVALET_HOME"] == str(own_home)
"""


@pytest.mark.whole("it starts a pytest of its own")
def test_a_test_has_nobodys_settings_and_no_home_of_another(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_house.py").write_text(TESTS)
    (tmp_path / "house.py").write_text('FLAT = "ours"\n')
    (tmp_path / ".env").write_text("DATABASE_URL=postgresql://serving.example/valet\n")
    settings = {"ONEVALET_MODEL": "openai/gpt-5-mini", "ONEVALET_HOME": ".onevalet", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "onevalet.testing.plugin", "tests/test_house.py"],
        cwd=tmp_path,
        env={**{name: value for name, value in os.environ.items() if name != "OPENAI_API_BASE"}, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout
