"""Tables of cases: a row names a value for each fact, or `*` for any; the first row that fits a case decides it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

type Case = Mapping[str, str]


@dataclass(slots=True)
class Table:
    """A table in words. `values`: all values of each fact, in the order of the columns; then come the results."""

    values: Mapping[str, Sequence[str]]
    text: str
    used: set[int] = field(default_factory=set)

    def cases(self) -> Iterator[tuple[Case, tuple[str, ...]]]:
        """Yield every combination of all facts with the results of its row; fails if it has none."""
        rows = [line.split() for line in self.text.strip().splitlines()]
        for chosen in product(*self.values.values()):
            case = dict(zip(self.values, chosen, strict=True))
            place = next(n for n, row in enumerate(rows) if _fits(row, chosen))
            self.used.add(place)
            yield case, tuple(rows[place][len(chosen) :])

    def unused(self) -> list[str]:
        """Return the rows that decided no case, after all were asked for: they would say nothing."""
        return [line for n, line in enumerate(self.text.strip().splitlines()) if n not in self.used]


def _fits(row: Sequence[str], chosen: Sequence[str]) -> bool:
    return all(cell == "*" or value in cell.split("|") for cell, value in zip(row, chosen, strict=False))
