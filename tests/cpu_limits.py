"""Limits of CPU for what runs on a host of `tests.namespaces`, by control groups, which only root may set."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from core.errors import ConfigError
from tests.namespaces import Host

_FIRST, _SECOND = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
"""Where Linux has them: a tree for CPU alone (version 1), or one for everything."""
_PERIOD = 50_000
"""Microseconds in which a limit is spent: half the usual, because who has spent it stands still for the rest."""


@contextmanager
def limited(limits: Sequence[tuple[Host, float]]) -> Iterator[None]:
    """Let each host use no more than so many cores for the block; raise `ConfigError` where that cannot be had.

    It holds for what runs there now and what that starts.
    """
    made: list[Path] = []
    try:
        try:
            root = _root()
            for host, cores in limits:
                made.append(group := root / host.name)
                group.mkdir()
                _limit(group, cores)
                _move(host.processes(), group)
        except OSError as error:
            raise ConfigError(f"The CPU of a host cannot be limited here: {error}") from error
        yield
    finally:
        for group in filter(Path.exists, made):
            _move(map(int, (group / "cgroup.procs").read_text().split()), root)
            group.rmdir()


def _root() -> Path:
    if (_FIRST / "cpu.cfs_quota_us").exists():
        return _FIRST
    controllers = _SECOND / "cgroup.subtree_control"
    if os.geteuid() == 0 and controllers.exists():
        controllers.write_text("+cpu")
        return _SECOND
    raise ConfigError("The CPU of a host cannot be limited here: no control groups that this user may change.")


def _limit(group: Path, cores: float) -> None:
    quota = round(cores * _PERIOD)
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota} {_PERIOD}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(quota))


def _move(pids: Iterable[int], group: Path) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # it ended
            (group / "cgroup.procs").write_text(str(pid))
