"""The health file of a worker: its loop writes it every few seconds, and `worker --check` reads it.

Its first line has the time and the writer; each further line names a stall.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

import structlog

from onevalet.supervision import heartbeat

_log = structlog.get_logger()


class HealthFile:
    """Write when the loop last ran, on the machine's monotonic clock, which never jumps."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed = False
        self.stalls: tuple[str, ...] = ()

    def write(self) -> None:
        """Replace the file; a failing disk is logged once and shows in the check."""
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            new.write_text("\n".join((f"{time.monotonic():.1f} {os.getpid()}", *self.stalls, "")))
            new.replace(self._path)
        except OSError as error:
            if not self._failed:
                _log.error("health_file_not_written", cause=error.strerror)
            self._failed = True
        else:
            self._failed = False

    def remove(self) -> None:
        """Remove the file: a worker that has ended is not healthy."""
        with suppress(OSError):
            self._path.unlink()


def health_problem(path: Path | None) -> str:
    """Return a sentence that says why a worker is not healthy; empty if it is."""
    if path is None:
        return "ONEVALET_HEALTH_FILE is not set: name a file that the worker and this check both reach."
    try:
        written = float(path.read_text().split()[0])
    except OSError as error:
        return f"The worker is not at work: {path} cannot be read ({error.strerror})."
    except (ValueError, IndexError):
        return f"{path} is not a worker's health file."
    silent = time.monotonic() - written
    # A file from before the machine's last start may lie in the future.
    if not -1.0 <= silent < heartbeat.HUNG_AFTER:
        return f"The worker hangs or has died: {path} was last written too long ago."
    return ""


def stalls_told(path: Path) -> list[str]:
    """Return the stalls in a healthy worker's file; empty if the file has just gone."""
    try:
        return path.read_text().splitlines()[1:]
    except OSError:
        return []
