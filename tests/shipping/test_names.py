"""Names: of our packages, which nothing installed may bear, and of tests, which are short enough to read."""

import re
from importlib.metadata import packages_distributions

from tests.shipping.harness import PACKAGES, python_files

MAX_TEST_NAME = 70


def long_test_names(source: str) -> list[str]:
    """Return the names of tests that are over the limit."""
    names = re.findall(r"^\s*(?:async )?def (test_\w+)", source, re.MULTILINE)
    return [name for name in names if len(name) > MAX_TEST_NAME]


def test_no_installed_distribution_has_a_package_named_like_ours() -> None:
    installed = packages_distributions()
    assert {name: installed[name] for name in PACKAGES if name in installed} == {}


def test_the_list_of_installed_packages_is_not_empty() -> None:
    assert "pytest" in packages_distributions()


def test_names_of_tests_are_short_enough_to_read() -> None:
    assert {path: long for path, source in python_files("tests").items() if (long := long_test_names(source))} == {}


def test_a_test_name_over_the_limit_is_found_in_a_class_too() -> None:
    longest = "test_".ljust(MAX_TEST_NAME, "x")
    source = f"def {longest}(): ...\nclass Test:\n    async def {longest}y(self): ...\ndef other_{longest}(): ...\n"
    assert long_test_names(source) == [f"{longest}y"]
