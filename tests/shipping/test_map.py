"""The map of CONTRIBUTING and the rooms of core in architecture.md are what the packages say of themselves."""

import ast

from tests.shipping.harness import PRODUCT, python_files, read
from workbench.pages.rooms import first_line, pages, rooms, rooms_of_core, the_map

LONGEST = 116
"""Letters of a first line."""
SCREEN = 40
"""Lines of the map's section."""


def test_both_pages_are_as_the_packages_say() -> None:
    assert [path.name for path, text in pages() if path.read_text() != text] == [], (
        "run: uv run -m workbench.pages.rooms"
    )


def test_each_package_of_the_product_says_what_is_in_it_in_one_line() -> None:
    packages = {path: text for path, text in python_files(*PRODUCT).items() if path.endswith("/__init__.py")}
    lines = {path: (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0] for path, text in packages.items()}
    assert {path: line for path, line in lines.items() if not 15 <= len(line) <= LONGEST or line[-1] != "."} == {}


def test_each_folder_of_tests_on_the_map_says_what_it_proves() -> None:
    assert [name for name in ["tests", *(f"tests/{room}" for room in rooms("tests"))] if not first_line(name)] == []


def test_the_map_shows_two_levels_on_one_screen() -> None:
    section = read("CONTRIBUTING.md").partition("## The map\n")[2].partition("\n## ")[0]
    assert section.count("\n") <= SCREEN
    parts = ("| `core/` |", "| `operations/` |", "`doctor`", "`spine`")
    assert [part for part in parts if part not in the_map()] == []


def test_the_rooms_of_core_stand_in_their_layers() -> None:
    table = rooms_of_core()
    assert table.index("| `turns` |") < table.index("| `loop` |") < table.index("| `db` |")
    assert sorted(line.split("`")[1] for line in table.splitlines()[2:]) == rooms("core")
