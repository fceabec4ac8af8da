"""`new` writes files whose tests pass."""

import inspect
import os
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from core.errors import ConfigError
from onevalet.cli.new_files import kinds, write_new
from onevalet.wiring.plugins import load_plugins


@pytest.mark.parametrize("kind", kinds())
async def test_what_is_written_passes_its_test(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = f"house_{kind}"
    files, hint = write_new(kind, "water-plants", package, tmp_path)
    assert all(file.exists() for file in files)
    monkeypatch.syspath_prepend(os.fspath(tmp_path))
    try:
        run = await run_tests(files)
        if kind in ("tool", "agent"):
            assert load_plugins([package]).names == ({"water_plants"} if kind == "tool" else {"WaterPlantsAgent"})
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
    assert run
    assert hint.startswith(f"Name {package} in ONEVALET_")


async def run_tests(paths: Iterable[Path]) -> list[str]:
    """Run the tests of files, one after another; return their names."""
    run = []
    for path in paths:
        tests = runpy.run_path(str(path)).items() if path.name.startswith("test_") else ()
        for name, test in tests:
            if name.startswith("test_"):
                result = test()
                if inspect.isawaitable(result):
                    await result
                run.append(name)
    return run


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    [path, _], _ = write_new("tool", "once", "house", tmp_path)
    path.write_text("mine")
    with pytest.raises(ConfigError, match=r"house/once\.py is there already"):
        write_new("agent", "once", "house", tmp_path)
    assert path.read_text() == "mine"
