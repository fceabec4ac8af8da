"""docs/api.md, made from the docstrings of the public names: `uv run -m workbench.pages.api` writes it."""

import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import onevalet

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
HEAD = """# Public names

Each name that `onevalet` exports, with its meaning and a class's methods; `help(onevalet.Calendars)` shows the
rest. `python -m workbench.pages.api` writes this page. Names that are not here may change with any version.
"""
_ROOMS = {
    "agents": "Agents",
    "approvals": "Approvals",
    "budgets": "Budgets",
    "calendar": "Calendars",
    "clock": "Time and ids",
    "credentials": "Credentials and accounts",
    "dav": "Contacts",
    "db": "The database",
    "documents": "Pages of the web",
    "embedded": "The whole assistant",
    "email": "Mail",
    "errors": "Errors",
    "events": "Events and services",
    "files": "Files",
    "hooks": "Hooks, rules and judges",
    "http": "HTTP",
    "ids": "Time and ids",
    "language": "Languages",
    "llm": "Models",
    "loop": "The loop",
    "memory": "Memory",
    "messaging": "Messages and channels",
    "migrating": "The database",
    "notifications": "Notifications",
    "own_channels": "Messages and channels",
    "people": "People",
    "questions": "Questions",
    "queue": "Wakeups",
    "replies": "Replies of tools",
    "tools": "Tools",
    "tasks": "Tasks and triggers",
    "turns": "Turns",
}


def page() -> str:
    """Return the page as it should be."""
    sections: defaultdict[str, list[str]] = defaultdict(list)
    for name, module in sorted(onevalet.homes().items()):
        room = module.split(".")[1]
        sections[_ROOMS.get(room, room.capitalize())].append(
            _entry(name, getattr(importlib.import_module(module), name))
        )
    parts = [HEAD, *(f"## {title}\n\n" + "\n".join(entries) + "\n" for title, entries in sorted(sections.items()))]
    return "\n".join(parts)


def _entry(name: str, value: object) -> str:
    entry = f"- `{_signature(name, value)}`: {_first_clause(value)}"
    methods = [f"`{method}`" for method in _methods(value)] if inspect.isclass(value) else []
    return f"{entry}\n  - {', '.join(methods)}" if methods else entry


def _methods(kind: type) -> Iterator[str]:
    """Yield the names of the public methods that a class defines, then those of its bases without an entry."""
    bases = [base for base in kind.__mro__[1:] if base.__name__ not in onevalet.homes() and _is_ours(base)]
    defined: dict[str, object] = {}
    for base in (kind, *bases):
        defined |= {name: found for name, found in vars(base).items() if name not in defined}
    for name, found in defined.items():
        if not name.startswith("_") and inspect.isfunction(found) and found.__doc__:
            yield name


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("core", "abilities", "notify", "providers")


def _signature(name: str, value: object) -> str:
    if inspect.isclass(value) or not callable(value):
        return name
    try:
        names = [parameter for parameter in inspect.signature(value).parameters if parameter not in ("self", "cls")]
    except (TypeError, ValueError):
        return f"{name}()"
    return f"{name}({', '.join(names)})"


def _first_clause(value: object) -> str:
    text = " ".join((inspect.getdoc(value) or "A type.").split("\n\n", 1)[0].split())
    return re.split(r"(?<=[.?!]) (?=[A-Z`])|; ", text, maxsplit=1)[0].rstrip(".") + "."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
