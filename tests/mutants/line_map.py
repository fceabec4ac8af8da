"""Which tests run which lines of the product, and what each test costs: a file that runs of the tests add to."""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.shipping.harness import ROOT

MAP = ".pytest_cache/lines.sqlite"
ROOMS = ("core", "channels", "notify", "providers", "jobs", "abilities", "agents", "onevalet", "operations")
"""The folders of the product. The workbench is none: nothing of it runs in production."""
NO_TEST = ""
"""Stands for what ran outside of any test: imports, collection, and fixtures that a whole run shares."""
_TABLES = """
create table if not exists files (id integer primary key, path text unique, digest text);
create table if not exists tests (id integer primary key, name text unique, cpu real, wall real);
create table if not exists lines (file integer, test integer, bits blob, primary key (file, test)) without rowid;
"""


@dataclass(frozen=True, slots=True)
class KnownTest:
    """A test: its CPU seconds and its wall seconds, without the fixtures that a run shares."""

    name: str
    cpu: float
    wall: float


type Ran = Mapping[str, Iterable[int]]
"""Lines by file."""


def add(path: Path, ran: Iterable[tuple[KnownTest, Ran]]) -> None:
    """Keep what tests ran, in place of what they ran before; what ran outside of any test adds up."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(_opened(path)) as store, store:
        store.execute("begin immediate")
        for test, lines in ran:
            store.execute(
                "insert into tests (name, cpu, wall) values (?, ?, ?)"
                " on conflict (name) do update set cpu = excluded.cpu, wall = excluded.wall",
                (test.name, test.cpu, test.wall),
            )
            (test_id,) = store.execute("select id from tests where name = ?", (test.name,)).fetchone()
            before = _kept(store, test_id) if test.name == NO_TEST else {}
            store.execute("delete from lines where test = ?", (test_id,))
            rows = dict(before)
            for file, numbers in lines.items():
                file_id = _file_id(store, file)
                rows[file_id] = rows.get(file_id, 0) | sum(1 << number for number in set(numbers))
            store.executemany(
                "insert into lines values (?, ?, ?)", [(file, test_id, _packed(bits)) for file, bits in rows.items()]
            )


class LineMap:
    """Reads the map."""

    def __init__(self, path: Path) -> None:
        with closing(_opened(path)) as store:
            rows = store.execute("select id, name, cpu, wall from tests")
            self._tests = {number: KnownTest(*row) for number, *row in rows}
            self._files = {
                file: (number, digest) for number, file, digest in store.execute("select id, path, digest from files")
            }
        self._path = path

    @property
    def tests(self) -> list[KnownTest]:
        """Return all tests, the cheapest first."""
        return sorted((test for test in self._tests.values() if test.name != NO_TEST), key=lambda test: test.cpu)

    def changed(self) -> list[str]:
        """Return the files whose text is not the one that was run."""
        return [file for file, (_, digest) in self._files.items() if digest != _digest(file)]

    def running(self, file: str, lines: Iterable[int]) -> list[KnownTest]:
        """Return what ran any of these lines of a file; any line, where the file has changed since."""
        number, digest = self._files.get(file, (0, ""))
        wanted = sum(1 << line for line in lines) if digest == _digest(file) else -1
        with closing(_opened(self._path)) as store:
            rows = store.execute("select test, bits from lines where file = ?", (number,)).fetchall()
        return [self._tests[test] for test, bits in rows if int.from_bytes(bits, "little") & wanted]


def _opened(path: Path) -> sqlite3.Connection:
    store = sqlite3.connect(path, timeout=300)
    store.executescript(_TABLES)
    return store


def _kept(store: sqlite3.Connection, test: int) -> dict[int, int]:
    rows = store.execute("select file, bits from lines where test = ?", (test,))
    return {file: int.from_bytes(bits, "little") for file, bits in rows}


def _file_id(store: sqlite3.Connection, file: str) -> int:
    store.execute(
        "insert into files (path, digest) values (?, ?) on conflict (path) do update set digest = excluded.digest",
        (file, _digest(file)),
    )
    (number,) = store.execute("select id from files where path = ?", (file,)).fetchone()
    return int(number)


def _packed(bits: int) -> bytes:
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")


def _digest(file: str) -> str:
    path = ROOT / file
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
