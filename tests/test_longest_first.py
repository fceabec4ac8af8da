"""xdist hands out what takes longest first, and binds no more to a worker than it needs to go on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.forker import ROOT
from tests.longest_first import FILE, MOST, PORTIONS, LongestFirst, Writer, portions, read, write

QUICK = ["tests/a.py::test_1", "tests/a.py::test_2", "tests/a.py::test_3", "tests/a.py::test_4"]
GROUP = ["tests/b.py::test_short@faults", "tests/b.py::test_case[x]@faults", "tests/c.py::test_minutes@faults"]
ALONE = ["tests/d.py::test_middling", "tests/d.py::test_long[2]"]
SECONDS = {
    "tests/b.py::test_case[x]": 20.0,
    "tests/c.py::test_minutes": 120.0,
    "tests/d.py::test_long[2]": 60.0,
    "tests/d.py::test_middling": 30.0,
}


@dataclass(eq=False)
class Node:
    """A worker of xdist that runs nothing."""

    all: list[str]
    given: list[str] = field(default_factory=list)
    shutting_down: bool = False
    gateway: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(id="gw"))

    def send_runtest_some(self, places: list[int]) -> None:
        self.given += [self.all[place] for place in places]

    def shutdown(self) -> None:
        self.shutting_down = True


ALL = [*QUICK, *GROUP, *ALONE]


def scheduled(folder: Path, workers: int, tests: Sequence[str] = ALL) -> tuple[Any, list[Node]]:
    """Return a scheduler with all tests, and the workers that have got their first ones."""
    write(folder / "durations.toml", SECONDS)
    config: Any = SimpleNamespace(
        getvalue=lambda _: ["popen"] * workers, option=SimpleNamespace(loadscopereorder=True, debug=False)
    )
    scheduler: Any = LongestFirst(config, None, folder / "durations.toml")
    nodes = [Node([*tests]) for _ in range(workers)]
    for node in nodes:
        scheduler.add_node(node)
    for node in nodes:
        scheduler.add_node_collection(node, node.all)
    scheduler.schedule()
    return scheduler, nodes


def test_the_longest_group_and_in_it_the_longest_file_go_first(tmp_path: Path) -> None:
    _, [first, second] = scheduled(tmp_path, 2)
    assert first.given == [GROUP[2], GROUP[0], GROUP[1]]
    assert second.given == [ALONE[1], ALONE[0]]


def test_no_more_waits_behind_a_test_than_the_next_one(tmp_path: Path) -> None:
    scheduler, [first, second] = scheduled(tmp_path, 2)
    scheduler.mark_test_complete(first, ALL.index(GROUP[2]))
    assert len(first.given) == 3, "one runs, and one waits"
    scheduler.mark_test_complete(first, ALL.index(GROUP[0]))
    assert first.given[3:] == QUICK[:1], "its last one begins, so it hears of the next"
    for test in (ALONE[1], ALONE[0], *QUICK[1:3]):
        scheduler.mark_test_complete(second, ALL.index(test))
    assert second.given[2:] == QUICK[1:]
    assert (first.shutting_down, second.shutting_down) == (False, True)


def test_every_test_is_handed_out_once(tmp_path: Path) -> None:
    scheduler, nodes = scheduled(tmp_path, 3)
    done: list[str] = []
    while scheduler.has_pending:
        for node in nodes:
            for test in [test for test in node.given if test not in done]:
                done.append(test)
                scheduler.mark_test_complete(node, ALL.index(test))
    assert sorted(done) == sorted(ALL)
    assert not any(scheduler.assigned_work.values()), "what has ended is not counted through again"


def test_short_tests_of_a_file_are_handed_out_together(tmp_path: Path) -> None:
    many = [f"tests/{file}.py::test_{number}" for number in range(60) for file in "efghij"]
    scheduler, [first, second] = scheduled(tmp_path, 2, [*ALL, *many])
    for test in GROUP:
        scheduler.mark_test_complete(first, ALL.index(test))
    assert first.given[3:] == QUICK[:3]
    scheduler.mark_test_complete(second, ALL.index(ALONE[1]))
    assert second.given[2:] == [f"tests/e.py::test_{number}" for number in range(3)]


def test_a_worker_stays_in_its_folder_while_there_is_work(tmp_path: Path) -> None:
    folders = ("core/turns", "core/loop", "jobs/turns")
    many = [f"tests/{folder}/test_{file}.py::test" for file in range(3) for folder in folders]
    scheduler, nodes = scheduled(tmp_path, 2, many)
    done: list[str] = []
    while scheduler.has_pending:
        for node in nodes:
            for test in [test for test in node.given if test not in done][:1]:
                done.append(test)
                scheduler.mark_test_complete(node, many.index(test))
    first, second = ([test.removeprefix("tests/").partition("/test")[0] for test in node.given] for node in nodes)
    assert (first[:3], second[:3]) == (["core/turns"] * 3, ["core/loop"] * 3)
    assert sorted([*first[3:], *second[3:]]) == ["jobs/turns"] * 3, "who has nothing left shares what nobody has begun"


def test_a_portion_is_of_one_file_and_small_where_tests_are_few() -> None:
    files = {f"tests/{file}.py": [f"tests/{file}.py::test_{n}" for n in range(MOST + 1)] for file in range(100)}
    tests = [test for same in files.values() for test in same]
    by_name: dict[str, list[str]] = {}
    for test, name in portions(tests, 1).items():
        by_name.setdefault(name, []).append(test)
    assert [*by_name.values()][:2] == [files["tests/0.py"][:MOST], files["tests/0.py"][MOST:]]
    assert [test for same in by_name.values() for test in same] == tests
    few = tests[: PORTIONS * 2]
    assert len({*portions(few, 2).values()}) == len(few)


def test_a_run_writes_what_ran_and_keeps_what_did_not(tmp_path: Path) -> None:
    file = tmp_path / "durations.toml"
    write(file, SECONDS)
    writer = Writer(file)
    for test, phase, seconds, outcome in (
        ("tests/b.py::test_case[x]@faults", "setup", 3.0, "passed"),
        ("tests/b.py::test_case[x]@faults", "call", 4.5, "passed"),
        ("tests/c.py::test_minutes@faults", "call", 0.5, "passed"),
        ("tests/d.py::test_long[2]", "call", 90.0, "failed"),
    ):
        report: Any = SimpleNamespace(nodeid=test, when=phase, duration=seconds, failed=outcome == "failed")
        writer.pytest_runtest_logreport(report)
    writer.pytest_sessionfinish()
    assert read(file) == {
        "tests/d.py::test_long[2]": 60.0,
        "tests/d.py::test_middling": 30.0,
        "tests/b.py::test_case[x]": 7.5,
    }


def test_each_that_is_listed_is_there() -> None:
    """One that was renamed would be handed out last."""
    for test in read(FILE):
        name, _, function = test.partition("::")
        assert (ROOT / name).is_file(), test
        assert f"def {function.partition('[')[0]}(" in (ROOT / name).read_text(), test
