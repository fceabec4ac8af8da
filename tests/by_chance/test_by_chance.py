"""What becomes of a failed test: again alone and once, three of a run at the most, and a ledger that wants causes."""

import tomllib
from datetime import date
from pathlib import Path

import pytest

from tests.by_chance import again, ledger
from tests.by_chance.failures import Failure, append, read
from tests.by_chance.plugin import without_group

pytest_plugins = ["pytester"]
SEEN_ON = date(2026, 11, 29)
FAILURES = [Failure(f"tests/test_a.py::test_{number}", f"E   assert {number}") for number in range(4)]


def run(folder: Path, failures: list[Failure], *passing: str) -> tuple[int, list[str]]:
    """Run again what failed; return the exit code and the tests that were run."""
    (folder / "failed").unlink(missing_ok=True)
    append(folder / "failed", failures)
    ran: list[str] = []

    def passes(test: str) -> bool:
        ran.append(test)
        return test in passing

    return again.run_again(folder / "failed", folder / "kept", passes), ran


def test_what_passes_again_lets_the_run_go_on_and_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, ran = run(tmp_path, FAILURES[:2], *(failure.test for failure in FAILURES))
    assert (code, ran) == (0, [failure.test for failure in FAILURES[:2]])
    assert again.tell(tmp_path / "kept") == FAILURES[:2]
    printed = capsys.readouterr().out
    assert "E   assert 0" in printed
    assert printed.endswith(f"  {FAILURES[0].test}\n  {FAILURES[1].test}\n")


def test_what_fails_again_refuses_the_run(tmp_path: Path) -> None:
    assert run(tmp_path, FAILURES[:2], FAILURES[0].test)[0] == 1


def test_a_fourth_failure_refuses_the_run_and_nothing_is_run_again(tmp_path: Path) -> None:
    assert run(tmp_path, FAILURES, *(failure.test for failure in FAILURES)) == (1, [])


def test_the_steps_of_a_run_share_its_three(tmp_path: Path) -> None:
    everything = [failure.test for failure in FAILURES]
    assert run(tmp_path, FAILURES[:2], *everything)[0] == 0
    assert run(tmp_path, FAILURES[2:], *everything) == (1, [])


def test_a_run_that_broke_without_a_failed_test_is_refused(tmp_path: Path) -> None:
    assert run(tmp_path, []) == (1, [])


def test_an_entry_is_read_back_whatever_was_seen(tmp_path: Path) -> None:
    failure = Failure("tests/a.py::test_b[\\x00]", "noise\nE   assert \"a\\b\" == 'c'\nE    + more")
    path = tmp_path / "ledger.toml"
    path.write_text(ledger.entry_of(failure, "abc", SEEN_ON))
    (entry,) = ledger.read_ledger(path)
    assert entry == ledger.Entry(failure.test, SEEN_ON, "abc", "E assert \"a\\b\" == 'c' E + more")


def test_an_entry_without_a_cause_is_overdue_after_two_landings() -> None:
    entries = [
        ledger.Entry("a", SEEN_ON, "abc", "?"),
        ledger.Entry("b", SEEN_ON, "abc", "?", "port"),
    ]
    assert ledger.overdue(entries, lambda commit: 2) == []
    assert ledger.overdue(entries, lambda commit: 3) == entries[:1]


def test_the_ledger_of_this_tree_can_be_read() -> None:
    assert tomllib.loads(ledger.LEDGER.read_text()) == {} or ledger.read_ledger()


def test_failures_are_written_down_with_what_they_printed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_a():\n    print('so far')\n    assert 1 == 2\n\ndef test_b():\n    pass\n")
    path = pytester.path / "failures"
    pytester.inline_run("-p", "no:asyncio", "-p", "tests.by_chance.plugin", "--failures", str(path))
    (failure,) = read(path)
    assert failure.test.endswith("::test_a")
    assert "assert 1 == 2" in failure.printed
    assert "so far" in failure.printed


@pytest.mark.parametrize(
    ("told", "test"),
    [
        ("tests/a.py::test_b", "tests/a.py::test_b"),
        ("tests/a.py::test_b@bare values", "tests/a.py::test_b"),
        ("tests/a.py::test_b[a@example.com]", "tests/a.py::test_b[a@example.com]"),
        ("tests/a.py::test_b[a@example.com-False]@model", "tests/a.py::test_b[a@example.com-False]"),
    ],
)
def test_a_test_is_named_as_it_is_alone(told: str, test: str) -> None:
    assert without_group(told) == test
