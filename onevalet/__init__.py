"""OneValet's face: the names that tools, agents and extensions are written against.

Each name is imported from `core` when it is first asked for (PEP 562), so `import onevalet` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.context import ToolExecutionContext as ToolExecutionContext
    from core.errors import ToolFailed as ToolFailed
    from core.errors import ToolRetry as ToolRetry
    from core.tools import tool as tool

_HOMES = {
    "ToolExecutionContext": "core.context",
    "ToolFailed": "core.errors",
    "ToolRetry": "core.errors",
    "tool": "core.tools",
}

__all__ = ["ToolExecutionContext", "ToolFailed", "ToolRetry", "tool"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
