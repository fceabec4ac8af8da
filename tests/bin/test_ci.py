"""`.ci/run`, where tests may not be skipped."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_ci_installs_every_package_that_a_test_fails_without() -> None:
    tests = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
    needed = {package for text in tests for package in re.findall(r"apt-get install ([a-z][a-z-]+)", text)}
    installing = re.search(r"^install_missing ((?:\S+ \S+ ?)+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)

    assert installing is not None
    assert needed == set(installing[1].split()[1::2])
