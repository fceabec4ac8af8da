"""Failures as they are kept between the steps of a run: a line of JSON each."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, and what it printed."""

    test: str
    printed: str

    def to_json(self) -> dict[str, str]:
        """Return this as a JSON object."""
        return {"test": self.test, "printed": self.printed}


def read(path: Path) -> list[Failure]:
    """Return the failures of a file, the first of each test; none if there is no file."""
    if not path.exists():
        return []
    found: dict[str, Failure] = {}
    for line in path.read_text().splitlines():
        failure = Failure(**json.loads(line))
        found.setdefault(failure.test, failure)
    return list(found.values())


def append(path: Path, failures: Iterable[Failure]) -> None:
    """Add failures to a file."""
    with path.open("a") as file:
        for failure in failures:
            file.write(json.dumps(failure.to_json()) + "\n")
