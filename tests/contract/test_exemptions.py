"""What a channel cannot do is said with its reason, in one list that people can read."""

import inspect
import re
from pathlib import Path

import pytest

from tests.contract import test_cards, test_operator, test_strange_answers, test_way_in, test_way_out, test_whole_path
from tests.contract.channel_harnesses import EVERYWHERE

CASES = (test_way_in, test_way_out, test_strange_answers, test_cards, test_operator, test_whole_path)
DOCUMENT = Path(__file__).parent / "README.md"


def exemptions() -> set[tuple[str, str, str]]:
    """Collect (case, channel, reason)."""
    exempt = set()
    for module in CASES:
        for name, case in inspect.getmembers(module, inspect.isfunction):
            for mark in getattr(case, "pytestmark", []):
                if mark.name == "exempt" and case.__module__ == module.__name__:
                    exempt |= {(_words(name), channel, reason) for channel, reason in mark.kwargs.items()}
    return exempt


def test_every_exemption_has_a_channel_and_a_reason_and_none_is_total(capfd: pytest.CaptureFixture[str]) -> None:
    with capfd.disabled():
        print()  # noqa: T201 - the list is what this case is for
        for case, channel, reason in sorted(exemptions()):
            print(f"exempt: {channel}: {case}: {reason}")  # noqa: T201
    by_case: dict[str, set[str]] = {}
    for case, channel, reason in exemptions():
        assert channel in EVERYWHERE
        assert len(reason) > 15
        by_case.setdefault(case, set()).add(channel)
    assert [case for case, channels in by_case.items() if channels == set(EVERYWHERE)] == []


def test_the_document_lists_exactly_these_exemptions() -> None:
    rows = re.findall(r"^\| ([^|]+) \| (\w+) \| ([^|]+) \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert {row for row in rows if row[1] in EVERYWHERE} == exemptions()


def _words(name: str) -> str:
    return re.sub(r"^promise \d+ ", "", name.removeprefix("test_").replace("_", " "))
