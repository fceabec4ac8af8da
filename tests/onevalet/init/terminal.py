"""`init` in a terminal of its own, played by a person who reads and types."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pexpect import EOF, TIMEOUT
from pexpect.fdpexpect import fdspawn

from onevalet.init.env_file import read_values
from tests.forker import ROOT, plain_environment
from tests.patience import PATIENCE

CTRL_C = "\x03"


class Terminal:
    """What is shown and what is typed. Where the wrong thing is shown, `see` fails with all that was shown."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self._process = process
        self._screen = fdspawn(descriptor, timeout=PATIENCE, encoding="utf-8")
        self.shown = ""

    def see(self, *texts: str) -> None:
        """Wait until these texts have been shown, in this order."""
        for text in texts:
            try:
                self._screen.expect_exact(text)
            except (TIMEOUT, EOF) as error:
                shown = f"{self.shown}{self._screen.before}"
                raise AssertionError(f"{text!r} was not shown, but: {shown}") from error
            self.shown += str(self._screen.before) + text

    def type(self, answer: str = "") -> None:
        self._screen.send(f"{answer}\r")

    def press(self, key: str) -> None:
        self._screen.send(key)

    def reply(self, question: str, answer: str = "") -> None:
        """Wait for a question and answer it."""
        self.see(question)
        self.type(answer)

    def end(self) -> int:
        """Wait for its end; return its exit code."""
        self._screen.expect(EOF)
        self.shown += str(self._screen.before)
        return self._process.wait(PATIENCE)


@contextmanager
def opened(folder: Path, *words: str, settings: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """Run `init` in a folder, in a terminal, for the length of the block."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        # A run in the background of a script ignores Ctrl-C, and so would what it starts; a person's shell does not.
        ["env", "--default-signal=INT", "setsid", "--ctty", sys.executable, "-m", "onevalet", "init", *words],
        cwd=folder,
        env=environment(settings or {}) | {"TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def run(folder: Path, *words: str, settings: Mapping[str, str] | None = None, stdin: str = "") -> tuple[int, str, str]:
    """Run `init` without a terminal; return exit code, output and errors."""
    done = subprocess.run(
        [sys.executable, "-m", "onevalet", "init", *words],
        cwd=folder,
        env=environment(settings or {}),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a newcomer with a few settings, from any folder."""
    return plain_environment() | {"PYTHONPATH": str(ROOT)} | dict(settings)


def saved(folder: Path) -> dict[str, str]:
    """Return what the folder's `.env` sets."""
    return {name: value for name, value in read_values(folder / ".env").items() if value}
