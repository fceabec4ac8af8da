"""The image: what it installs is pinned and hashed, installs by the Dockerfile's own lines, and then runs."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.shipping.harness import PACKAGES, ROOT, clean_environment, find_uv, processes, read, run, tracked_files

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)
EXPORT = "uv export --no-dev --no-header --no-annotate --format requirements-txt -q -o requirements.txt"
SHIPPED = tuple(name for name in PACKAGES if name not in ("tests", "benchmarks"))

_IMPORT_ALL = """
import importlib, pkgutil
names = {names!r}
for name in names:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, name + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
"""


def instructions(word: str) -> list[str]:
    """List what follows a word of the Dockerfile, in order."""
    return re.findall(rf"^{word} (.+)$", read("Dockerfile"), re.MULTILINE)


def pinned(text: str) -> set[tuple[str, str]]:
    return {(name.lower(), version) for name, version in _PINNED.findall(text)}


def test_every_direct_dependency_is_pinned_in_the_export() -> None:
    declared = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
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
    [base] = instructions("ARG")
    assert {line.split()[0] for line in instructions("FROM")} == {"${PYTHON}"}
    composed = re.findall(r"^    image: (.+)$", read("docker-compose.yml"), re.MULTILINE)
    for image in (base.removeprefix("PYTHON="), *composed):
        assert re.fullmatch(r"[a-z/]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}", image), image
    assert len(composed) == 2


def test_what_builds_the_image_is_pinned_by_hash_for_both_platforms() -> None:
    [installing] = [line for line in instructions("RUN") if line.startswith("pip ")]
    assert "--require-hashes -r requirements-build.txt" in installing
    text = read("requirements-build.txt")
    assert [name for name, _ in pinned(text)] == ["uv"]
    assert len(set(re.findall(r"--hash=sha256:[0-9a-f]{64}", text))) == 2


def test_the_image_runs_as_an_ordinary_user() -> None:
    stages = read("Dockerfile").split("\nFROM ")
    assert re.findall(r"^USER (.+)$", stages[-1], re.MULTILINE) == ["onevalet"]
    assert "--chown" not in stages[-1]


def test_the_image_starts_in_the_project_folder_with_it_first_on_the_path() -> None:
    assert instructions("WORKDIR")[-1] == "/app"
    assert any("PYTHONPATH=/app" in line for line in instructions("ENV"))
    assert instructions("CMD") == ['["python", "-m", "onevalet", "web"]']


def test_no_secret_and_no_data_goes_into_the_image() -> None:
    ignored = read(".dockerignore").splitlines()
    assert {".*", "**/.*", "tests", "uv.lock"} <= set(ignored)
    assert not any(line.startswith("!") for line in ignored)


@pytest.mark.slow
@pytest.mark.timeout(600)  # where nothing is cached yet, it downloads
def test_its_install_lines_run_and_every_module_finds_what_it_imports(tmp_path: Path) -> None:
    uv = find_uv()
    if uv is None:
        pytest.skip("uv is not here: the tests were not started by `uv run`")
    of_the_image = ("useradd", "install --directory")
    lines = [line for line in instructions("RUN") if not line.startswith(of_the_image)]
    installing, making, filling = lines
    assert "uv" not in installing.split()  # here, uv is there already
    venv = tmp_path / "venv"
    for line in (making, filling):
        local = line.replace("/opt/venv", str(venv)).replace("--no-cache ", "")
        _run_line(local, uv)
    _copy_project(tmp_path / "app")
    environment = {"PATH": f"{venv}/bin", "PYTHONPATH": str(tmp_path / "app")}
    # First what compiles everything, so that the others need not.
    run([f"{venv}/bin/python", "-c", _IMPORT_ALL.format(names=SHIPPED)], folder=tmp_path, environment=environment)
    for command in processes().values():
        assert _refusal(command, venv, tmp_path, environment).startswith("DATABASE_URL is not set")


def _refusal(command: list[str], venv: Path, folder: Path, environment: dict[str, str]) -> str:
    """Start a process that lacks its settings and give the sentence it ends with."""
    done = subprocess.run(
        [f"{venv}/bin/{command[0]}", *command[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr[-1000:]
    return done.stderr


def _run_line(line: str, uv: str) -> None:
    environment = clean_environment()
    environment["PATH"] = f"{Path(uv).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    if done.returncode and not os.environ.get("CI") and re.search("Failed to fetch|sending request", done.stderr):
        pytest.skip("the packages cannot be fetched from here")
    assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"


def _copy_project(target: Path) -> None:
    """Copy what belongs to our packages, as `COPY . .` does after .dockerignore."""
    for path in tracked_files():
        inner = path.relative_to(ROOT)
        if inner.parts[0] in SHIPPED:
            (target / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / inner)
