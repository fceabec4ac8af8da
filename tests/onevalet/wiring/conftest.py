"""Plugins that tests of the loader write."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

type Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write plugin modules into a folder of their own that can be imported from."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def put(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        importlib.invalidate_caches()

    yield put
    for name in set(sys.modules) - before:
        if name.startswith("plug"):
            del sys.modules[name]
