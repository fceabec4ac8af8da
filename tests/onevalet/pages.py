"""The code of pages: each block of Python is written to the file that its first line names, and its tests are run."""

import inspect
import re
import runpy
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.shipping.harness import read

_BLOCK = re.compile(r"^```python\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def page_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder whose packages can be imported until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def write_blocks(page: str, folder: Path) -> list[Path]:
    """Write each block of a page to its file below a folder, whose packages get an `__init__`; return the files."""
    paths = []
    for name, code in _BLOCK.findall(read(page)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
        paths.append(path)
    for path in paths:
        if path.parent not in (folder, folder / "tests"):
            (path.parent / "__init__.py").touch()
    return paths


async def run_tests(paths: Iterable[Path]) -> list[str]:
    """Run the tests of files, one after another; return their names. They may ask for `monkeypatch`."""
    run = []
    for path in paths:
        if not path.name.startswith("test_"):
            continue
        for name, test in runpy.run_path(str(path)).items():
            if name.startswith("test_"):
                with pytest.MonkeyPatch.context() as patch:
                    wanted = "monkeypatch" in inspect.signature(test).parameters
                    result = test(monkeypatch=patch) if wanted else test()
                    if inspect.isawaitable(result):
                        await result
                run.append(name)
    return run
