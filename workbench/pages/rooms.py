"""The map in CONTRIBUTING.md and the rooms of core in docs/architecture.md: `uv run -m workbench.pages.rooms`.

The first line of a package describes its room.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_INNER = ("core", "abilities", "agents", "channels", "providers", "notify", "jobs")
HOUSE = (*_INNER, "operations", "onevalet", "workbench", "tests")
"""The folders at the top, from the spine outwards."""
_A_ROW = 20
"""The rooms that a row of the map names."""
LAYERS = "the rooms of core, from the top down"
"""The contract of pyproject.toml that has them."""
_BEGIN, _END = "<!-- {name}: written by `python -m workbench.pages.rooms` -->\n", "<!-- end: {name} -->\n"


def first_line(package: str) -> str:
    """Return the first line of a package's docstring without the full stop; empty if it has none."""
    text = (ROOT / package / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].removesuffix(".")


def rooms(folder: str) -> list[str]:
    """Return the packages right below a folder; for tests, those without a counterpart in the product."""
    found = sorted(path.parent.name for path in (ROOT / folder).glob("*/__init__.py"))
    return [name for name in found if folder != "tests" or not (ROOT / name / "__init__.py").exists()]


def the_map() -> str:
    """Return the table of all rooms, a row for each folder at the top."""
    lines = ["| folder | what is in it | its rooms |", "|---|---|---|"]
    for folder in HOUSE:
        names = [f"`{name}`" for name in rooms(folder)]
        for first in range(0, len(names) or 1, _A_ROW):
            begin = "| |" if first else f"| `{folder}/` | {first_line(folder)}"
            lines.append(f"{begin} | {', '.join(names[first : first + _A_ROW])} |")
    return "\n".join(lines) + "\n"


def rooms_of_core() -> str:
    """Return the table of the rooms of core, by their layers."""
    lines = ["| layer | room | what is in it |", "|---|---|---|"]
    packages = set(rooms("core"))
    for number, layer in enumerate(_layers(), 1):
        for place, room in enumerate(sorted(layer & packages)):
            lines.append(f"| {'' if place else number} | `{room}` | {first_line(f'core/{room}')} |")
    return "\n".join(lines) + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Yield each page with the text that it should have."""
    contributing, architecture = ROOT / "CONTRIBUTING.md", ROOT / "docs" / "architecture.md"
    yield contributing, _written(contributing.read_text(encoding="utf-8"), {"map": the_map()})
    yield architecture, _written(architecture.read_text(encoding="utf-8"), {"rooms of core": rooms_of_core()})


def _layers() -> Iterator[set[str]]:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    [contract] = [contract for contract in told if contract["name"] == LAYERS]
    for layer in contract["layers"]:
        yield set(layer.replace("|", " ").replace(":", " ").split())


def _written(text: str, parts: dict[str, str]) -> str:
    for name, table in parts.items():
        begin, end = _BEGIN.format(name=name), _END.format(name=name)
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"A page lacks the marks around: {name}.")
        text = before + begin + "\n" + table + "\n" + end + after
    return text


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
