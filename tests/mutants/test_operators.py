"""What a mutant changes, and what is left alone."""

import ast

import pytest

from tests.mutants.operators import Mutant, edits_of, mutant_of
from tests.shipping.harness import python_files


def mutants(body: str) -> list[Mutant]:
    """Return the mutants of a function with this body, which stands in one line of its own or more."""
    source = "def f(self, a, b):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    made = [mutant_of("a.py", source, edit) for edits in edits_of(source).values() for edit in edits]
    return [mutant for mutant in made if mutant is not None]


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("a = b < 1", {"a = b <= 1", "a = b < 2"}),
        ("a = b is not None", {"a = b is None"}),
        ("a = a not in b", {"a = a in b"}),
        ("a = a and b", {"a = a or b"}),
        ("a = not b", {"a =  b"}),
        ("a = a + 0", {"a = a - 0", "a = a + 1"}),
        ("a = max(a, b)", {"a = min(a, b)"}),
        ("a = True", {"a = False"}),
        ("a = 'x'", {'a = "mutated"'}),
        ("a = b.strip('x')", {'a = b.strip("")'}),
        ("self.a = b", {"pass"}),
        ("a.append(b)", {"pass"}),
        ("await a(b)", {"pass"}),
        ("raise KeyError('x')", {"pass"}),
        ("return b", {"return None"}),
        ("return False", {"return True"}),
        ("a = [x for x in b if x.y]", {"a = [x for x in b if not (x.y)]"}),
        ("a = a.x if b else None", {"a = a.x if not (b) else None"}),
        ("a = _('Hello {name}', name=b + a)", {"a = _('Hello {name}', name=b - a)"}),
    ],
)
def test_one_thing_is_changed_at_a_time(line: str, changed: set[str]) -> None:
    assert {mutant.after for mutant in mutants(line)} == changed


@pytest.mark.parametrize(
    "line",
    [
        '"""Say why."""',
        "_log.info('sent', count=1)",
        "self._log.warning('late', after=a + b)",
        "metrics.TURNS.labels('store').inc()",
        "a = gettext('Hello')",
        "a: 'int'",
        "assert a == b",
        "import a",
        "raise NotImplementedError(1)",
        "a = f'{b} of {a!r}'",
        "a = zip(a, b, strict=True)",
        "return None",
        "a = 'x' + b",
    ],
)
def test_what_no_behaviour_depends_on_is_left_alone(line: str) -> None:
    assert [mutant.after for mutant in mutants(line) if '"mutated"' not in mutant.after] == []


def test_nothing_outside_of_functions_is_changed() -> None:
    source = "LIMIT = 5\n\n@cached(maxsize=3)\ndef f(a: int = 1) -> int: ...\n\nclass A:\n    size: int = 3\n"
    assert edits_of(source) == {}


def test_the_lines_of_a_file_keep_their_numbers() -> None:
    body = "a.call(\n    b,\n    1,\n)\nreturn (\n    a\n    and b  # why\n)"
    made = mutants(body)
    assert {mutant.source.count("\n") for mutant in made} == {body.count("\n") + 2}
    assert {(mutant.line, mutant.after) for mutant in made} >= {
        (2, "pass"),
        (4, "2,"),
        (6, "return None"),
        (8, "or b  # why"),
    }


def test_each_mutant_of_a_real_file_is_python_of_another_meaning() -> None:
    ((path, source),) = ((path, source) for path, source in python_files("core").items() if path.endswith("seal.py"))
    made = [mutant_of(path, source, edit) for edits in edits_of(source).values() for edit in edits]
    assert len([mutant for mutant in made if mutant is not None]) > 15
    assert all(ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(source)) for mutant in made if mutant)
