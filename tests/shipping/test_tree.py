"""The tree keeps the harness rules that a program can see."""

import re
from functools import cache
from pathlib import Path

from tests.shipping.harness import ROOT, tracked_files

MAX_LINES = 400
CODE = {".py", ".sql", ".sh", ".js", ".css", ".html"}
READERS = ROOT / "docs" / "examples"
"""Files for a reader's own folders, which have their `__init__.py` there."""

# Put together here, so that this file does not hold what it looks for.
_REGISTRIES = [
    *("pypi" + ".org", "python" + "hosted.org", "npm" + "js."),
    *("docker" + ".io", "gh" + "cr.io", "index" + "-url"),
]
_ELSEWHERE = re.compile(r"(?<![\w./{}$:~-])/(?:root|work|Users|mnt|home/(?!onevalet\b))(?:/|\b)[\w.-]*")


@cache
def texts() -> tuple[tuple[str, str], ...]:
    contents = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in tracked_files()]
    return tuple((name, content.decode("utf-8")) for name, content in contents if b"\0" not in content)


def test_a_long_file_of_code_is_warned_about() -> None:
    code = [(name, text) for name, text in texts() if Path(name).suffix in CODE]
    long = {name: lines for name, text in code if (lines := len(text.splitlines())) > MAX_LINES}
    if long:
        print(f"files over {MAX_LINES} lines: {long}")  # noqa: T201 - a warning: the limit that fails is on classes
    assert code


def test_no_file_names_a_package_registry() -> None:
    assert [name for name, text in texts() for host in _REGISTRIES if host in text] == []


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    assert {name: matches for name, text in texts() if (matches := _ELSEWHERE.findall(text))} == {}


def test_every_script_is_executable_and_every_text_ends_with_a_newline() -> None:
    paths = {path.relative_to(ROOT).as_posix(): path for path in tracked_files()}
    scripts = [name for name, text in texts() if text.startswith("#!")]
    assert [name for name in scripts if not paths[name].stat().st_mode & 0o100] == []
    assert [name for name, text in texts() if text and not text.endswith("\n")] == []


def test_every_folder_of_code_is_a_package() -> None:
    code = [path for path in tracked_files() if path.suffix == ".py"]
    folders = {path.parent for path in code if not path.is_relative_to(READERS)}
    assert [folder.relative_to(ROOT).as_posix() for folder in folders if not (folder / "__init__.py").exists()] == []
