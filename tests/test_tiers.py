"""Which tests run when: a representative of each case in the promise tier, all with --whole, slow ones when asked."""

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.metadata import packages_distributions

import pytest

from tests.by_chance.again import command
from tests.forker import ROOT

pytest_plugins = ["pytester"]
CONTRACT = """
import pytest

ACROSS = pytest.mark.parametrize("channel", ["sms", "slack", "telegram"])

@ACROSS
@pytest.mark.parametrize("size", [1, 2])
def test_case(channel, size): pass

@pytest.mark.parametrize("channel", ["sms", "email"])
def test_also_by_mail(channel): pass

@pytest.mark.whole("it repeats test_case")
def test_repeats(): pass

@pytest.fixture
def dovecot(): pass

def test_mailbox(dovecot): pass

@pytest.mark.skipif("'dovecot'", reason="it is not here")
def test_elsewhere(): pass

@pytest.mark.slow
def test_kill(): pass
"""
ROOM = """
import pytest

@pytest.fixture
def services(): pass

@pytest.fixture
def store(services): pass

def test_pure(): pass

def test_store(store): pass

def test_promise_1_kept(store): pass
"""
VALUES = """
import pytest

MANY = pytest.mark.parametrize("value", range(6))

@pytest.fixture
def services(): pass

@MANY
def test_pure(value): pass

@MANY
def test_store(services, value): pass

@MANY
def test_promise_1_kept(services, value): pass

@pytest.mark.parametrize("seed", range(6))
def test_promise_2_kept(services, seed): pass
"""
LACKING = """
import pytest

def test_lacking(): pytest.skip("npm is missing")

@pytest.mark.xfail
def test_known(): assert False
"""
UNSAID = "import pytest\n\n@getattr(pytest.mark, 'slow')\ndef test_kill(): pass\n"
KILLS = "import pytest\npytestmark = pytest.mark.slow\nraise ImportError\n"


@pytest.fixture
def tiered(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return a folder of tests of all tiers."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{os.environ.get('PYTHONPATH', '')}")
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\n"
        'addopts = ["-p", "tests.tiers"]\ntestpaths = ["tests"]\nmarkers = ["slow", "whole"]\n'
    )
    files = {"contract/test_cases": CONTRACT} | dict.fromkeys(("core/test_room", "onevalet/test_face"), ROOM)
    files["shipping/test_docs"] = ROOM
    for name, text in files.items():
        path = pytester.path / "tests" / f"{name}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (pytester.path / "tests" / "test_kills.py").write_text(KILLS)
    return pytester


def collected(tiered: pytest.Pytester, *options: str) -> list[str]:
    """Return the tests that a run collects."""
    told = tiered.runpytest_subprocess("--collect-only", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider", *options)
    assert told.ret == 0, told.outlines
    return [line.partition("::")[2] for line in told.outlines if "::" in line]


def test_the_promise_tier_has_each_case_on_one_channel(tiered: pytest.Pytester) -> None:
    tests = collected(tiered)
    assert [name.partition("[")[0] for name in tests[:3]] == ["test_case", "test_case", "test_also_by_mail"]
    assert tests[2] == "test_also_by_mail[sms]"
    assert collected(tiered) == tests


def test_the_promise_tier_has_rooms_the_face_by_itself_and_promises(tiered: pytest.Pytester) -> None:
    room, face, rest = ["test_pure", "test_store"], ["test_pure"], ["test_promise_1_kept"]
    assert collected(tiered)[3:] == [*room, *rest, *face, *rest, *rest]


def test_the_promise_tier_has_two_values_of_a_test_on_servers(tiered: pytest.Pytester) -> None:
    before = collected(tiered)
    (tiered.path / "tests" / "core" / "test_values.py").write_text(VALUES)
    (tiered.path / "tests" / "contract" / "test_values_of_all.py").write_text(VALUES)
    added = Counter(collected(tiered)) - Counter(before)
    of_store = {test: count for test, count in added.items() if test.startswith("test_store")}
    assert of_store == {f"test_store[{value}]": 1 + (value in {0, 5}) for value in range(6)}
    of_chance = {test: count for test, count in added.items() if test.startswith("test_promise_2")}
    assert of_chance == {f"test_promise_2_kept[{seed}]": 2 for seed in (0, 5)}
    assert sum(added.values()) == 2 * 2 * 6 + 6 + 2 + 2 * 2


def test_the_whole_has_all_that_is_not_slow_and_loads_no_slow_file(tiered: pytest.Pytester) -> None:
    assert len(collected(tiered, "--whole")) == (6 + 2 + 1 + 1 + 1) + 3 * 3


def test_what_is_named_runs_whole(tiered: pytest.Pytester) -> None:
    assert len(collected(tiered, "tests/contract")) == 6 + 2 + 1 + 1 + 1
    assert collected(tiered, "-k", "repeats") == ["test_repeats"]


def test_the_promise_tier_of_what_is_named_runs_when_asked(tiered: pytest.Pytester) -> None:
    tests = collected(tiered, "--promises", "tests/contract")
    assert tests == collected(tiered)[:3]


def test_the_slow_run_when_asked(tiered: pytest.Pytester) -> None:
    assert collected(tiered, "-m", "slow", "tests/contract") == ["test_kill"]


def test_the_slow_run_loads_no_file_without_slow_tests(tiered: pytest.Pytester) -> None:
    (tiered.path / "tests" / "core" / "test_quick.py").write_text("raise ImportError\n")
    (tiered.path / "tests" / "test_kills.py").unlink()
    assert collected(tiered, "-m", "slow") == ["test_kill"]


def test_a_slow_test_that_the_slow_run_would_not_find_is_refused(tiered: pytest.Pytester) -> None:
    (tiered.path / "tests" / "core" / "test_unsaid.py").write_text(UNSAID)
    told = tiered.runpytest_subprocess("--whole", "--collect-only", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider")
    told.stderr.fnmatch_lines(["*test_unsaid.py::test_kill is slow, but mark.slow does not stand in its file"])


@pytest.mark.parametrize("test", ["test_kill", "test_repeats", "test_mailbox"])
def test_what_failed_runs_again_whichever_tier_it_is_of(tiered: pytest.Pytester, test: str) -> None:
    _python, _module, _pytest, *options = command(f"tests/contract/test_cases.py::{test}")
    assert collected(tiered, *options) == [test]


def test_what_the_promise_tier_would_skip_fails(tiered: pytest.Pytester) -> None:
    (tiered.path / "tests" / "core" / "test_lacking.py").write_text(LACKING)
    options = ("-q", "-p", "no:asyncio", "-p", "no:cacheprovider", "-p", "no:xdist")
    tiered.runpytest_subprocess(*options).assert_outcomes(passed=9, failed=1, xfailed=1)
    tiered.runpytest_subprocess(*options, "tests/core/test_lacking.py").assert_outcomes(skipped=1, xfailed=1)


@pytest.mark.slow
def test_only_slow_tests_need_what_their_group_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = {re.split(r"[=;\[ ]", wanted)[0] for wanted in project["dependency-groups"]["slow"]}
    modules = [module for module, owners in packages_distributions().items() if names & {*owners}]
    assert "playwright" in modules
    hidden = (
        f"import sys; sys.modules.update(dict.fromkeys({modules})); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", hidden, "-n0", "--collect-only", "-qq", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
