"""Which functions of the product run while a block does, in all tasks and threads of the process."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).parents[2]
NOT_OURS = ("tests/", "workbench/", "onevalet/testing/", ".")
"""The test itself, the provider and the model that are played, and what lies in `.venv`."""

type Functions = dict[str, set[str]]
"""The qualified names of what ran, by file."""


@contextmanager
def functions_that_run() -> Iterator[Functions]:
    """Yield what fills with each product file whose code runs in the block, and with its functions."""
    ran: Functions = {}

    def began(code: CodeType, _offset: int) -> object:
        path = Path(code.co_filename)
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        if name and not name.startswith(NOT_OURS) and code.co_name != "<module>":
            ran.setdefault(name, set()).add(f"{code.co_qualname}:{code.co_firstlineno}")
        return monitoring.DISABLE  # once is enough: the rest of the block runs at full speed

    monitoring = sys.monitoring
    tool = monitoring.PROFILER_ID
    monitoring.use_tool_id(tool, __name__)
    try:
        monitoring.restart_events()
        monitoring.register_callback(tool, monitoring.events.PY_START, began)
        monitoring.set_events(tool, monitoring.events.PY_START)
        yield ran
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


def report_of(ran: Functions) -> str:
    """Return what ran as text: each room with its files, their lines and their functions."""
    rooms: dict[str, list[str]] = {}
    for file in sorted(ran):
        rooms.setdefault(str(Path(file).parent), []).append(file)
    out = [f"{len(ran)} files, {sum(map(lines_of, ran))} lines, {sum(map(len, ran.values()))} functions"]
    for room, files in rooms.items():
        out.append(f"{room}: {len(files)} files")
        out += [f"  {Path(file).name}: {lines_of(file)} lines, {', '.join(sorted(ran[file]))}" for file in files]
    return "\n".join(out)


def lines_of(file: str) -> int:
    """Return how many lines a file of the tree has."""
    return len((ROOT / file).read_text().splitlines())
