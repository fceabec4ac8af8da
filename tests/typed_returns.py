"""A pytest plugin: no function of the product returns None against its annotation.

mypy believes casts and what comes from libraries, and a test may drop a result that it did not ask for. Here every
`return` of the product is looked at once in each process, when it first runs, which costs nothing afterwards: a test
in which one returns None for `-> str` fails, whatever it is about.
"""

import inspect
import re
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

from tests.mutants.line_map import ROOMS

_ROOT = Path(__file__).parents[1]
_TOOL = 3  # 0 to 2 and 5 are of debuggers, coverage and profilers
_GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_SIGNATURE = re.compile(r"\bdef \w+(\[[^(]*\])?\(.*?\)\s*->\s*(.+?):\s*(#.*)?$", re.DOTALL)
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_HOLD_NONE = frozenset(
    {
        *("None", "Any", "object", "Optional", "Never", "NoReturn"),
        *("Json", "WordOutcome", "PayloadReply", "ImapUrl", "DatabaseUrl", "RedisUrl"),  # aliases of what may be None
        *("Answer", "Claim", "Got", "Item", "Kind", "Made", "O", "R", "Result", "T", "Value"),  # type parameters
    }
)
"""Names in an annotation, outside of brackets, by which a function may return None."""


class Watch:
    """Notes the functions that return None against their annotation."""

    def __init__(self, *folders: Path, tool: int = _TOOL) -> None:
        self._folders, self._tool = tuple(f"{folder}/" for folder in folders), tool
        self.found: list[str] = []

    def start(self) -> None:
        """Begin to watch this process."""
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(self._tool, "typed returns")
        sys.monitoring.register_callback(self._tool, events.PY_RETURN, self._returned)
        sys.monitoring.set_events(self._tool, events.PY_RETURN)

    def stop(self) -> None:
        """Watch no more."""
        sys.monitoring.set_events(self._tool, 0)
        sys.monitoring.free_tool_id(self._tool)

    def take(self) -> list[str]:
        """Return what was found since the last time."""
        found, self.found = self.found, []
        return found

    def _returned(self, code: CodeType, _: int, value: object) -> object:
        is_function = code.co_name[0] != "<" and not code.co_flags & _GENERATOR
        if value is None and is_function and code.co_filename.startswith(self._folders):
            annotation = _annotation(code.co_filename, code.co_firstlineno)
            if annotation and not _HOLD_NONE & _outer_names(annotation):
                self.found.append(f"{code.co_filename}: {code.co_qualname} -> {annotation} returned None")
        return sys.monitoring.DISABLE


@cache
def _lines(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8").splitlines()


def _annotation(file: str, first: int) -> str:
    """Return the annotation of what a function returns; empty for what is no function, or has none."""
    head = ""
    for line in _lines(file)[first - 1 : first + 40]:
        head += f"{line.strip()}\n"
        if line.strip().startswith("class "):
            return ""
        if (found := _SIGNATURE.search(head)) is not None:
            return found[2]
    return ""


def _outer_names(annotation: str) -> set[str]:
    """Return the names of an annotation that stand in no brackets."""
    while annotation != (shorter := _BRACKETS.sub("", annotation)):
        annotation = shorter
    return set(re.findall(r"\w+", annotation))


_WATCH = Watch(*(_ROOT / room for room in ROOMS))


def pytest_configure(config: pytest.Config) -> None:
    """Begin, unless somebody else watches so."""
    if sys.monitoring.get_tool(_TOOL) is None:
        _WATCH.start()
        config.add_cleanup(_WATCH.stop)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Fail a test in which a function returned None against its annotation."""
    result = yield
    assert _WATCH.take() == []
    return result
