"""From a clean clone to a first answer in the simulator, as a newcomer who is not root: timed and printed."""

import json
import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import eventually_blocking
from tests.forker import ROOT, plain_environment
from tests.ports import free_port
from tests.shipping.harness import find_uv

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
_WAY = re.compile(r"UV_(?!CACHE_DIR|PYTHON$|PROJECT).*|SSL_CERT_.*|(?i:https?|all|no)_proxy")
LIMIT = 400.0
"""Seconds after which it has failed, whatever the machine: where nothing is cached yet, it downloads."""
REACH = 20
_PINNED = re.compile(r"^([\w.-]+)==([\w.+!-]+)", re.MULTILINE)
_NO_PART = ("site-packages", "test", "idlelib", "config-3.*")
"""What of a Python no virtual environment sees or wants."""


def test_a_clean_clone_answers_an_ordinary_user_and_says_how_soon(
    capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    newcomer = Newcomer()
    try:
        begun = time.monotonic()
        newcomer.clone()
        cloned = time.monotonic()
        newcomer.own_clone()
        begun += time.monotonic() - cloned
        cloned = time.monotonic()
        process = newcomer.start("bin/dev")
        newcomer.wait_for_page(process)
        started = time.monotonic()
        newcomer.say("Remember: the spare key is with the neighbours.")
        newcomer.wait_for_answer()
        answered = time.monotonic()
    finally:
        newcomer.leave()
    told = (
        f"clean clone to a first answer: {answered - begun:.1f} s (reach: {REACH} s), of which "
        f"clone {cloned - begun:.1f}, start {started - cloned:.1f}, answer {answered - started:.1f}"
    )
    record_property("clean clone to a first answer", told)
    with capsys.disabled():
        sys.stdout.write(f"\n{told}\n")


class Newcomer:
    """A user without privileges, with a home of their own and the packages that uv keeps on this machine."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="newcomer-"))
        self.project, self.home = self.folder / "onevalet", self.folder / "home"
        self.home.mkdir()
        self.port = free_port(1)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self._cache = self._warm_cache()
        if self._user:
            self.folder.chmod(0o755)
            self._hand_over(self.folder)

    def clone(self) -> None:
        subprocess.run(["git", "clone", "--quiet", f"file://{ROOT}", str(self.project)], check=True, timeout=LIMIT)

    def own_clone(self) -> None:
        """Make the clone the user's, as it is where they clone it themselves."""
        self._hand_over(self.project)

    def start(self, command: str) -> "subprocess.Popen[bytes]":
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [self.project / command], stdout=log, stderr=log, start_new_session=True, **self._as_user(self.project)
            )
        self._processes.append(process)
        return process

    def wait_for_page(self, process: "subprocess.Popen[bytes]") -> None:
        def shows() -> bool:
            if process.poll() is not None:
                raise RuntimeError(self._log())
            assert "  simulator  " in self._log(), self._log()
            return True

        eventually_blocking(shows, "the page", within=LIMIT)

    def say(self, text: str) -> None:
        self._ask("/sim/telegram/say", {"person": "ada", "text": text})

    def wait_for_answer(self) -> None:
        def answered() -> bool:
            assert "neighbours" in self._sent(), self._log()
            return True

        eventually_blocking(answered, "the answer", within=LIMIT)

    def leave(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(60)
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)

    def _log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def _sent(self) -> str:
        calls = self._ask("/sim/journal?provider=telegram&last=0")
        return json.dumps([call["request"] for call in calls if call["endpoint"] == "telegram.sendMessage"])

    def _ask(self, path: str, body: object = None) -> list[dict[str, object]]:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port + 1}{path}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own
            told: list[dict[str, object]] = json.load(answer)
        return told

    def _warm_cache(self) -> Path:
        """Return a folder with the packages of this machine's uv, which the user may write to."""
        uv = find_uv() or "uv"
        cache = Path(subprocess.check_output([uv, "cache", "dir"], text=True).strip())
        if self._user is None:
            return cache
        theirs = locked(uv, "--no-dev", "--group", "local", "--all-extras")  # what bin/dev asks for
        left_out = locked(uv, "--all-groups", "--all-extras") - theirs
        archives = [path for path in cache.glob("archive-*/*") if (held := packages(path)) and held <= left_out]
        _copy(cache, self.folder / "cache", *(str(path.relative_to(cache)) for path in archives))
        base = Path(sys.base_prefix)
        # Where bin/dev looks for a Python and for uv, since a user may not look into root's home.
        _copy(base, self.home / ".pyenv" / "versions" / base.name, *_NO_PART)
        return self.folder / "cache"

    def _hand_over(self, folder: Path) -> None:
        if self._user:
            owner = f"{self._user.pw_uid}:{self._user.pw_gid}"
            subprocess.run(["chown", "--recursive", "--no-dereference", owner, str(folder)], check=True)

    def _as_user(self, folder: Path) -> dict[str, Any]:
        # How this machine reaches the packages' index is no part of what is measured.
        ways = {name: value for name, value in os.environ.items() if _WAY.fullmatch(name)}
        environment = (
            plain_environment()
            | ways
            | {
                "HOME": str(self.home) if self._user else str(Path.home()),
                "UV_CACHE_DIR": str(self._cache),
                "PORT": str(self.port),
                "PYTHONUNBUFFERED": "1",
            }
        )
        if self._user is None:
            return {"cwd": folder, "env": environment}
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        # A Python that was built with a shared library looks for it where it was built.
        environment["LD_LIBRARY_PATH"] = str(self.home / ".pyenv" / "versions" / Path(sys.base_prefix).name / "lib")
        who = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return {"cwd": folder, "env": environment} | who


def _copy(source: Path, target: Path, *left_out: str) -> None:
    """Copy a folder of many small files, for which shutil takes several times as long."""
    target.mkdir(parents=True)
    pack = ["tar", "--create", "--file=-", f"--directory={source}", *(f"--exclude={name}" for name in left_out), "."]
    with subprocess.Popen(pack, stdout=subprocess.PIPE) as packing:
        subprocess.run(["tar", "--extract", "--file=-", f"--directory={target}"], stdin=packing.stdout, check=True)
    assert packing.returncode in (0, 1), "1 is a file that uv changed meanwhile"


def locked(uv: str, *groups: str) -> set[tuple[str, str]]:
    """Return the names and versions that the lock has for these groups."""
    command = [uv, "export", "--frozen", "--quiet", "--no-hashes", "--no-emit-project", *groups]
    printed = subprocess.check_output(command, cwd=ROOT, text=True)
    return {_package(name, version) for name, version in _PINNED.findall(printed)}


def packages(archive: Path) -> set[tuple[str, str]]:
    """Return the names and versions of what an unpacked wheel holds."""
    infos = [path.stem.rpartition("-") for path in archive.glob("*.dist-info")]
    return {_package(name, version) for name, _, version in infos}


def _package(name: str, version: str) -> tuple[str, str]:
    return re.sub(r"[-_.]+", "-", name).lower(), version
