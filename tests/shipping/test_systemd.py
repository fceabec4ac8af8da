"""The units of deploy/systemd: systemd takes them, finds them well confined, and what they name is there."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from jobs.worker import GRACE
from onevalet.settings import Settings
from onevalet.supervision.heartbeat import BEAT_EVERY
from tests.needs import need
from tests.shipping.harness import read, run
from tests.shipping.test_documents import commands
from tests.shipping.units import DROP_IN, UNITS, read_unit, unit_files

PYTHON = "/opt/onevalet/.venv/bin/python"
SERVICES = [path.name for path in unit_files() if path.suffix == ".service"]
MOST_EXPOSED = 15
"""Tenths of what systemd-analyze calls exposure: 100 is a service without any limit. The network alone makes 0.8."""
OF_SYSTEMD = ("lib/systemd/system", "usr/lib/systemd/system")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a root folder with our units, the targets of systemd, and a program where ours would be."""
    need("systemd-analyze")
    root = tmp_path_factory.mktemp("machine")
    shutil.copytree(UNITS, root / "etc/systemd/system")
    (own,) = [folder for name in OF_SYSTEMD if (folder := Path("/", name)).is_dir()][:1]
    (root / "lib/systemd/system").mkdir(parents=True)
    for path in own.glob("*.target"):
        shutil.copy(path, root / "lib/systemd/system", follow_symlinks=True)
    for name in ("opt/onevalet/.venv/bin/python", "opt/onevalet/deploy/README.md", "opt/onevalet/docs/deploy.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("#!/bin/sh\n")
        (root / name).chmod(0o755)
    return root


def complaints(machine: Path) -> str:
    """Return what systemd says of our units: errors, and warnings about lines that it would ignore."""
    names = [path.name.replace("@.", "@1.") for path in unit_files()]
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={machine}", *names]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_systemd_takes_every_unit_without_a_warning(machine: Path) -> None:
    assert complaints(machine) == ""


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        (f"ExecStart={PYTHON}", "ExecStart=/opt/onevalet/bin/nothing", "not executable"),
        ("Restart=always", "Restart=forever", "Failed to parse"),
        ("RestartSec=", "RestartSeconds=", "Unknown key"),
    ],
)
def test_systemd_complains_about_a_wrong_line(
    machine: Path, tmp_path: Path, right: str, wrong: str, complaint: str
) -> None:
    root = shutil.copytree(machine, tmp_path / "machine")
    unit = root / "etc/systemd/system/onevalet-web.service"
    unit.write_text(unit.read_text().replace(right, wrong))
    assert complaint in complaints(root)


@pytest.mark.parametrize("service", [name.replace("@.", "@1.") for name in SERVICES])
def test_each_service_is_confined_as_systemd_measures_it(machine: Path, service: str) -> None:
    measured = ["systemd-analyze", "security", "--offline=true", f"--root={machine}", "--no-pager"]
    run([*measured, f"--threshold={MOST_EXPOSED}", service])


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_runs_a_command_that_exists(service: str) -> None:
    (line,) = read_unit(service)["ExecStart"]
    start = f"{PYTHON} -m onevalet "
    assert line.startswith(start)
    assert line.removeprefix(start).split(" --")[0] in commands()


def test_every_setting_in_the_units_exists() -> None:
    told = [value for path in [*UNITS.glob("*.service"), UNITS / DROP_IN] for value in of(path, "Environment")]
    assert told
    assert {value.partition("=")[0].lower() for value in told} - set(Settings.model_fields) == set()


def of(path: Path, key: str) -> list[str]:
    return read_unit(str(path.relative_to(UNITS))).get(key, [])


def test_systemd_waits_longer_for_a_worker_than_it_waits_for_its_turns() -> None:
    worker = read_unit("onevalet-worker@.service")
    assert float(worker["TimeoutStopSec"][0]) > GRACE.total_seconds() + 10
    assert worker["KillMode"] == ["mixed"]


def test_the_watchdog_has_patience_for_many_reports() -> None:
    worker = read_unit("onevalet-worker@.service")
    assert worker["Type"] == ["notify"]
    assert float(worker["WatchdogSec"][0]) > 10 * BEAT_EVERY


def test_each_worker_has_a_health_file_of_its_own() -> None:
    worker = read_unit("onevalet-worker@.service")
    (folder,) = worker["RuntimeDirectory"]
    assert worker["Environment"] == [f"ONEVALET_HEALTH_FILE=/run/{folder}/health"]
    assert folder.endswith("%i")


def test_only_migrate_is_given_the_owners_address() -> None:
    given = {name: read_unit(name).get("EnvironmentFile") for name in SERVICES}
    assert given.pop("onevalet-migrate.service") == ["/etc/onevalet/migrate.env"]
    assert set(map(str, given.values())) == {"None"}


def test_what_serves_starts_after_migrate_and_comes_back() -> None:
    for name in ("onevalet-web.service", "onevalet-worker@.service"):
        unit = read_unit(name)
        assert "onevalet-migrate.service" in unit["After"][0].split()
        assert "onevalet-migrate.service" in unit["Wants"][0].split()
        assert unit["Restart"] == ["always"]
        assert unit["StartLimitIntervalSec"] == ["0"]


def test_the_user_of_the_services_is_made_by_sysusers() -> None:
    (user,) = read_unit(DROP_IN)["User"]
    assert re.search(rf"^u {user} - ", read("deploy/systemd/onevalet.sysusers"), re.MULTILINE)
