"""Where a worker runs: in a fork of its supervisor, or in this process if loading has started a thread."""

import threading
from collections.abc import Callable, Iterator

import pytest

from onevalet.settings import Settings
from onevalet.supervision import supervisor
from onevalet.supervision.worker_start import ALONE, WorkerStart

type Loads = Callable[[bool], None]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loads]:
    """Yield what replaces the loading of libraries, which may leave a thread, and the forking."""
    ends = threading.Event()

    def put(leaves_thread: bool) -> None:
        async def load_worker(_: Settings) -> None:
            if leaves_thread:
                threading.Thread(target=ends.wait, daemon=True).start()

        monkeypatch.setattr(supervisor, "load_worker", load_worker)

    monkeypatch.setattr(supervisor, "keep_loaded", lambda: None)
    monkeypatch.setattr(supervisor.Supervisor, "run", lambda _: 7)
    before = threading.active_count()  # the tests of a process may have threads of their own
    monkeypatch.setattr(threading, "active_count", lambda: 1 + len(threading.enumerate()) - before)
    yield put
    ends.set()


def test_nothing_is_forked_if_loading_left_a_thread(loads: Loads) -> None:
    started: list[WorkerStart] = []
    loads(True)
    supervisor.supervise(started.append, Settings(_env_file=None))
    assert started == [ALONE]


def test_a_worker_is_forked_otherwise(loads: Loads) -> None:
    started: list[WorkerStart] = []
    loads(False)
    with pytest.raises(SystemExit) as ended:
        supervisor.supervise(started.append, Settings(_env_file=None))
    assert (ended.value.code, started) == (7, [])
