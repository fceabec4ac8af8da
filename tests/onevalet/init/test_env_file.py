"""`.env` is changed without losing what is there, and replaced as a whole."""

import os
import stat
from pathlib import Path

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ConfigError
from onevalet.init.env_file import read_values, save_values

_VALUES = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=30).map(str.strip)


def test_other_lines_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("# first\n\nA=1  # why\r\nexport B='two'\nC=\n!odd line\nA=2\nLAST=x")
    save_values(path, {"A": "9", "B": "it's", "C": "three words", "NEW": "n", "ABSENT": ""})
    assert path.read_bytes().decode() == (
        "# first\n\nA=9  # why\r\nexport B='it\\'s'\nC='three words'\n!odd line\nLAST=x\nNEW=n\n"
    )
    assert read_values(path) == {"A": "9", "B": "it's", "C": "three words", "LAST": "x", "NEW": "n"}


def test_the_example_is_filled_in_where_each_name_stands(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    example = (Path(__file__).parents[3] / ".env.example").read_text()
    path.write_text(example)
    save_values(path, {"ONEVALET_MODEL": "openai/gpt-5-mini", "TELEGRAM_BOT_TOKEN": "1:a"})
    assert path.read_text() == example.replace("\nONEVALET_MODEL=\n", "\nONEVALET_MODEL=openai/gpt-5-mini\n").replace(
        "\nTELEGRAM_BOT_TOKEN=\n", "\nTELEGRAM_BOT_TOKEN=1:a\n"
    )


@given(values=st.dictionaries(st.from_regex(r"[A-Z][A-Z_]{0,8}", fullmatch=True), _VALUES, max_size=5))
def test_every_value_is_read_as_it_was_saved(values: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("env") / ".env"
    save_values(path, values)
    save_values(path, values)
    told = dotenv_values(path, interpolate=False)
    assert {name: told.get(name) or "" for name in values} == values


def test_it_is_for_its_owners_eyes_and_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    real, link = tmp_path / "real.env", tmp_path / ".env"
    real.write_text("A=1\n")
    real.chmod(0o644)
    link.symlink_to(real)
    save_values(link, {"A": "2"})
    assert link.is_symlink()
    assert (real.read_text(), stat.S_IMODE(real.stat().st_mode)) == ("A=2\n", 0o600)


def test_what_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / ".env"
    path.write_text("A=1\n")
    with pytest.raises(ConfigError, match="B cannot be saved: it has a line break"):
        save_values(path, {"B": "1\nC=2"})

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ConfigError, match=r"cannot be written \(No space left on device\)"):
        save_values(path, {"A": "2"})
    assert path.read_text() == "A=1\n"
    assert [found.name for found in tmp_path.iterdir()] == [".env"]
