"""Names: of our packages, which nothing installed may bear, of classes, and of tests, which are short to read."""

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from importlib.metadata import packages_distributions

from tests.shipping.harness import PACKAGES, SHIPPED, python_files

MAX_TEST_NAME = 70
OF_ONE_MEANING = ("Answer", "Refused", "Asking", "Said", "Kept", "Wanted", "Place")
"""Short names that meant something else in each room."""


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


def classes(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the files of each class and type alias at the top level of a module, by its name."""
    found = defaultdict[str, list[str]](list)
    for path, source in sources.items():
        for node in ast.parse(source).body:
            match node:
                case ast.ClassDef(name=name) | ast.TypeAlias(name=ast.Name(id=name)):
                    found[name].append(path)
    return found


def test_a_short_name_means_one_thing_in_the_product() -> None:
    either = re.compile(rf"^(?:class|type) (?:{'|'.join(OF_ONE_MEANING)})\b", re.MULTILINE)
    found = classes({path: source for path, source in python_files(*SHIPPED).items() if either.search(source)})
    assert {name: found[name] for name in OF_ONE_MEANING if len(found[name]) > 1} == {}
    assert found["Answer"] == ["core/tools/message_access.py"]


def test_a_second_class_of_a_name_is_found() -> None:
    planted = {"core/a.py": "class Answer:\n    pass\n", "jobs/b.py": "type Answer = int\n"}
    assert classes(planted) == {"Answer": ["core/a.py", "jobs/b.py"]}


_BINDS = re.compile(r"^\w+(?::| =).*", re.MULTILINE)


def bound_twice(source: str) -> list[str]:
    """Return the names that a module binds twice: what stands above reads the second value all the same."""
    bound: dict[str, int] = {}
    twice: list[str] = []
    at_margin = [name for line in _BINDS.findall(source) for name in re.findall(r"(\w+)(?=:| =)", line)]
    if len(at_margin) == len(set(at_margin)):
        return []  # parsing all of the tests takes seconds
    for node in ast.parse(source).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for name in (target.id for target in targets if isinstance(target, ast.Name)):
            if name in bound:
                twice.append(f"{name} in lines {bound[name]} and {node.lineno}")
            bound[name] = node.lineno
    return twice


def test_no_module_binds_a_name_twice() -> None:
    found = {path: twice for path, source in python_files(*SHIPPED, "tests").items() if (twice := bound_twice(source))}
    assert found == {}


def test_a_name_that_is_bound_twice_is_found() -> None:
    assert bound_twice("_MOST = 1\nx: int = 2\nif x:\n    _MOST = 3\n_MOST = 4\n") == ["_MOST in lines 1 and 5"]
