"""The code of pages: each block of Python is written to the file that its first line names, and its tests are run."""

import inspect
import re
import runpy
from collections.abc import Iterable
from pathlib import Path

from tests.shipping.harness import read

_BLOCK = re.compile(r"^```python\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


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
    """Run the tests of files, one after another; return their names."""
    run = []
    for path in paths:
        if not path.name.startswith("test_"):
            continue
        for name, test in runpy.run_path(str(path)).items():
            if name.startswith("test_"):
                result = test()
                if inspect.isawaitable(result):
                    await result
                run.append(name)
    return run
