"""Read a docstring's text about its function and about each parameter."""

import inspect
import re
from dataclasses import dataclass, field

_SECTION = re.compile(r"^(Args|Arguments|Parameters):\s*$")
_OTHER_SECTION = re.compile(r"^(Returns|Raises|Yields|Example|Examples|Note|Notes):")
_ENTRY = re.compile(r"^\s+(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_SPHINX = re.compile(r"^:param\s+(?:[\w\[\]|, ]+\s)?(\w+):\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Docs:
    """The parts of a docstring: the text before the sections, and a text for each parameter."""

    summary: str
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docs:
    """Parse a docstring: its summary, and its `Args:` section or `:param name:` lines."""
    summary: list[str] = []
    parameters: dict[str, str] = {}
    inside, current = "summary", ""
    for line in inspect.cleandoc(text or "").splitlines():
        if _SECTION.match(line):
            inside = "parameters"
        elif _OTHER_SECTION.match(line) or line.startswith((":return", ":raise")):
            inside = "other"
        elif match := _SPHINX.match(line):
            inside, current = "parameters", match[1]
            parameters[current] = match[2].strip()
        elif inside == "summary":
            summary.append(line)
        elif inside == "parameters":
            current = _add_parameter_line(parameters, current, line)
    return Docs("\n".join(summary).strip(), parameters)


def _add_parameter_line(parameters: dict[str, str], current: str, line: str) -> str:
    entry = _ENTRY.match(line)
    indent = len(line) - len(line.lstrip())
    if entry and (not current or indent <= 4):
        parameters[entry[1]] = entry[2].strip()
        return entry[1]
    if current and line.strip():
        parameters[current] = f"{parameters[current]} {line.strip()}".strip()
    return current
