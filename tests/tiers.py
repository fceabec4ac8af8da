"""A pytest plugin: the three tiers, by what their tests prove.

- `bin/test`, the promise tier: every promise, every case of the contract on one representative channel, every room of
  the product, and of its face (`onevalet/`) all that needs no server.
- `bin/test --whole`: besides, all channels and languages, all values of a room's test on Postgres or Valkey, the face
  on its servers, the simulator, what ships, and what needs other programs or processes of its own.
- `bin/test -m slow`: kills, browsers, servers, measuring.

With paths, `bin/test` runs all that is not slow there: who names a folder wants it all; with `--promises` the promise
tier there. What belongs to which tier is decided here, from what a test says of itself, so a new test is in the right
one without being listed.

The promise tier skips nothing, whatever a machine lacks: a test that would be skipped fails there.
"""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

AXES = ("channel", "language", "provider")
"""Parameters over which the same code runs again: the promise tier takes one representative of each."""
BEHIND_SERVERS = {
    *("forker", "dev", "dovecot", "nanoidp", "radicale", "radicale_server", "chromium", "backups", "start_holder"),
}
"""Fixtures that start other programs, or processes of ours."""
ROOMS = ("abilities", "agents", "approvals", "channels", "core", "jobs", "notify", "providers")
"""Folders of the product's rooms."""
FACES = ("onevalet", "operations")
"""The folders of what people and operators start and look at: most of it puts the rooms together again."""
_NOT_EVERYWHERE = ("whole", "slow", "needs", "skip", "skipif")
"""Marks of what proves more, takes longer, or cannot run on every machine."""
_SERVER = "services"
"""The fixture behind everything that stands on Postgres or Valkey."""
SAMPLE = 2
"""How many values the promise tier takes of a room's test on Postgres or Valkey: each costs a tenth of a second."""
ALIKE = {"seed", "word", "wording", "words"}
"""Parameters of which it takes no more for a promise or the contract: runs by chance, and what tests without a server
read in all its forms."""
_NAME = "promise_tier"
_PROMISE = re.compile(r"test_promises?_[0-9]+_")
_SLOW_FILE = re.compile(r"^pytestmark = .*mark\.slow\b|^pytestmark = \[[^\]]*mark\.slow\b", re.MULTILINE)
_SLOW = re.compile(r"\bmark\.slow\b")
"""What stands in each file that has a slow test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption("--whole", action="store_true", help="run all that is not slow, not the promise tier alone")
    parser.addoption("--promises", action="store_true", help="run the promise tier of the paths given")
    parser.addoption("--full", action="store_true", help="take the full sizes of tests that try or measure many things")


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what is slow unless `-m` says what to run."""
    config.stash[_MARKED] = bool(config.option.markexpr)
    if not config.option.markexpr:
        config.option.markexpr = "not slow"
    if is_promise_tier(config):
        config.pluginmanager.register(NothingIsSkipped(), "nothing_is_skipped")


class NothingIsSkipped:
    """Fails what would be skipped: a stranger would not know that it proved nothing."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn a skip into a failure that says what to do."""
        report = yield
        if report.skipped and not hasattr(report, "wasxfail"):
            report.outcome = "failed"
            report.longrepr = f"Nothing of the promise tier is skipped: mark this test as whole. {report.longreprtext}"
        return report


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which nothing runs: it is read, not loaded, which takes a tenth of a second less."""
    if config.option.markexpr not in ("slow", "not slow") or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    if config.option.markexpr == "slow":
        return None if _SLOW.search(text) else True
    if _SLOW_FILE.search(text):
        return True
    folder = collection_path.relative_to(config.rootpath).parts[1]
    is_left_out = is_promise_tier(config) and folder not in ("contract", *FACES, *ROOMS) and not _PROMISE.search(text)
    return True if is_left_out else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist the tier: it is given all folders as if they had been named."""
    node.workerinput[_NAME] = is_promise_tier(node.config)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse a slow test of whose mark its file says nothing: the slow run would not find it."""
    if item.get_closest_marker("slow") and not _SLOW.search(item.path.read_text(encoding="utf-8")):
        raise pytest.UsageError(f"{item.nodeid} is slow, but mark.slow does not stand in its file")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the promise tier where nothing else is asked for."""
    if not is_promise_tier(config):
        return
    kept = set(promise_tier(items))
    left_out = [item for item in items if item not in kept]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item in kept]


def is_promise_tier(config: pytest.Config) -> bool:
    """Return whether this run is of the promise tier: `--promises` is given, or neither paths, marks nor `--whole`."""
    sent = getattr(config, "workerinput", None)
    if sent is not None:
        return bool(sent[_NAME])
    return bool(config.getoption("--promises")) or not (
        config.getoption("--whole")
        or config.stash[_MARKED]
        or config.option.keyword
        or config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    )


def promise_tier(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of the promise tier, in their order."""
    items = [item for item in items if _proves_a_promise(item) and not _is_of_the_whole(item)]
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[_case(item)].append(item)
    counts: Counter[str] = Counter()
    chosen: set[int] = set()
    for (name, _), same in cases.items():
        counts[name] += 1
        # By a number that every worker gets alike, so that each channel and language has its share.
        chosen.add(id(same[zlib.crc32(f"{name} {counts[name]}".encode()) % len(same)]))
    return _sampled([item for item in items if id(item) in chosen])


def _sampled(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with the first and the last of a room's test that runs on servers with many values.

    The promises and the contract keep all of theirs but what is alike, and what needs no server keeps all, which costs
    a thousandth of it.
    """
    on_servers: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        is_promise = "contract" in item.nodeid.split("/") or _PROMISE.match(item.name)
        if _SERVER in getattr(item, "fixturenames", ()) and (not is_promise or ALIKE & _parameters(item).keys()):
            on_servers[item.nodeid.partition("[")[0]].append(item)
    left_out: set[int] = set()
    for same in on_servers.values():
        places = {place * (len(same) - 1) // (SAMPLE - 1) for place in range(SAMPLE)}
        left_out |= {id(item) for place, item in enumerate(same) if place not in places}
    return [item for item in items if id(item) not in left_out]


def _proves_a_promise(item: pytest.Item) -> bool:
    """Return whether a test holds a numbered promise, the contract of all channels, a room, or the face by itself."""
    folder = item.nodeid.split("/")[1] if item.nodeid.count("/") > 1 else ""
    if folder == "contract" or folder in ROOMS or _PROMISE.match(item.name):
        return True
    return folder in FACES and _SERVER not in getattr(item, "fixturenames", ())


def _is_of_the_whole(item: pytest.Item) -> bool:
    """Return whether a test says that it proves more than a stranger needs to know after each change."""
    if any(map(item.get_closest_marker, _NOT_EVERYWHERE)):
        return True
    return bool(BEHIND_SERVERS & set(getattr(item, "fixturenames", ()))) or _parameters(item).get("channel") == "email"


def _case(item: pytest.Item) -> tuple[str, str]:
    """Return a test's name, and what else is the same for all its channels and languages."""
    others = {name: value for name, value in _parameters(item).items() if name not in AXES}
    return item.nodeid.partition("[")[0], repr(others)


def _parameters(item: pytest.Item) -> dict[str, object]:
    return dict(getattr(getattr(item, "callspec", None), "params", {}))


_MARKED = pytest.StashKey[bool]()
