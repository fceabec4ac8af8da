"""The map of CONTRIBUTING: one line for each room, so that its reader finds a thing by the names of folders."""

from tests.shipping.harness import PRODUCT, python_files, read


def rooms() -> set[str]:
    """Return the packages that the map must show. A folder of tests that mirrors one of the product needs no line."""
    files = python_files(*PRODUCT, "tests")
    packages = {path.removesuffix("__init__.py") for path in files if path.endswith("/__init__.py")}
    product = {path for path in packages if not path.startswith("tests/")}
    tests = {path for path in packages - product if path.count("/") <= 2 and path.removeprefix("tests/") not in product}
    return product | tests


def folders_on_the_map(document: str) -> list[str]:
    """Return the folders in the first column of the map's table."""
    section = document.partition("## The map\n")[2].partition("\n## ")[0]
    return [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]


def test_each_room_has_one_line_and_each_line_a_room() -> None:
    assert sorted(folders_on_the_map(read("CONTRIBUTING.md"))) == sorted(rooms())


def test_only_the_first_column_of_the_map_counts() -> None:
    document = (
        "## The map\n\n| folder | what |\n|---|---|\n| `core/a/` | `b/` is elsewhere |\n\n## Next\n| `c/` | d |\n"
    )
    assert folders_on_the_map(document) == ["core/a/"]


def test_folders_of_tests_that_mirror_the_product_need_no_line() -> None:
    assert {"core/", "core/db/", "channels/slack/", "tests/", "tests/spine/"} <= rooms()
    assert not {"tests/core/", "tests/core/db/"} & rooms()
