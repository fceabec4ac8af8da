"""The SQL files of the product: numbered migrations, and the functions of each room and ability."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from core.errors import ConfigError

SQL = Path(__file__).parent / "sql"

_STANDS_FOR = re.compile(r"^-- stands for \S+ ([0-9a-f]{64})$", re.MULTILINE)
_CATCH_UP = re.compile(r"^-- catch up: (.+;)$", re.MULTILINE)
_SERVES = re.compile(r"^-- serves code from (\d{4}) on: (.+)$", re.MULTILINE)
_PLACE = re.compile(r"^ *-- [^\n]*\b(from|by) their sql/(\w+)\.sql\.\n", re.MULTILINE)
"""A place in a function that asks abilities: for selects, which `union all` joins, or for statements."""
_FUNCTION = re.compile(r"^create (?:or replace )?function (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A migration, or the functions of a room. `name`: the file's without its ending, behind its ability's name."""

    name: str
    sql: str

    @property
    def number(self) -> int:
        return int(self.name.rpartition("/")[2].split("_", 1)[0])

    @property
    def ability(self) -> str:
        """Return the ability whose file it is; empty for the spine's."""
        return self.name.rpartition("/")[0]

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the text, hex."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def stands_for(self) -> str:
        """Return the checksum of the last of the earlier migrations in place of which this one is; empty if none."""
        found = _STANDS_FOR.search(self.sql)
        return found[1] if found else ""

    @property
    def catch_up(self) -> str:
        """Return the statement by which tables of those earlier migrations become the tables of this one."""
        found = _CATCH_UP.search(self.sql)
        return found[1] if found else ""

    @property
    def functions(self) -> list[str]:
        return _FUNCTION.findall(self.sql)

    @property
    def serves_from(self) -> int | None:
        """Return the number of the oldest code that works once this migration is applied; None: any does."""
        found = _SERVES.search(self.sql)
        return int(found[1]) if found else None

    @property
    def takes_away(self) -> str:
        """Return the things that older code needs and this migration removes, in the migration's own words."""
        found = _SERVES.search(self.sql)
        return found[2].rstrip(".") if found else ""

    def pieces(self) -> list[tuple[str | None, str]]:
        """Return the text in statements, each with the name of the function that it makes, if any."""
        head, *texts = re.split(r"^(?=create )", self.sql, flags=re.MULTILINE)
        # Comments at the top belong to the first statement.
        texts = [head + texts[0], *texts[1:]] if texts else [head]
        return [((found := _FUNCTION.search(text)) and found[1], text) for text in texts]


@dataclass(frozen=True, slots=True)
class AbilitySql:
    """The SQL of an ability: `migrations/` and `functions/`, as the spine has them, and a file for each answer.

    A function asks all abilities by a comment: `from their sql/due.sql.` for selects, `by their sql/redact.sql.` for
    statements.
    """

    ability: str
    folder: Path

    def migrations(self) -> list[SqlFile]:
        """Return its migrations in order; their numbers must rise by one."""
        return self._named(load_migrations(self.folder / "migrations"))

    def functions(self) -> list[SqlFile]:
        return self._named(load_functions(self.folder / "functions"))

    def answers(self) -> dict[str, str]:
        """Return its answers to functions that ask abilities, by the names of their files."""
        return {path.stem: path.read_text().rstrip() for path in sorted(self.folder.glob("*.sql"))}

    def _named(self, files: Iterable[SqlFile]) -> list[SqlFile]:
        return [replace(file, name=f"{self.ability}/{file.name}") for file in files]


def with_abilities(functions: Iterable[SqlFile], abilities: Sequence[AbilitySql]) -> list[SqlFile]:
    """Return the functions of the spine and then of the abilities, with the abilities' answers put in.

    Raises `ConfigError` for an answer for which no function asks, and for a function of an ability that another file
    makes too.
    """
    files = [*functions, *(file for ability in abilities for file in ability.functions())]
    made: dict[str, str] = {}
    for file in files:
        for name in file.functions:
            if made.setdefault(name, file.name) != file.name:
                raise ConfigError(f"{file.name}.sql makes {name}, which {made[name]}.sql makes too: rename one.")
    answers = {ability.ability: ability.answers() for ability in abilities}
    asked = {match[2] for file in files for match in _PLACE.finditer(file.sql)}
    for ability, answered in answers.items():
        if unasked := answered.keys() - asked:
            raise ConfigError(f"No function asks abilities for sql/{min(unasked)}.sql of {ability}.")
    return [replace(file, sql=_PLACE.sub(partial(_answered, answers.values()), file.sql)) for file in files]


def _answered(answers: Iterable[Mapping[str, str]], place: re.Match[str]) -> str:
    """Return the abilities' answers for a place; its comment if there are none."""
    how, name = place[1], place[2]
    before = "union all\n" if how == "from" else ""
    return "".join(f"{before}{answer[name]}\n" for answer in answers if name in answer) or place[0]


def load_migrations(folder: Path = SQL / "migrations") -> list[SqlFile]:
    """Return the migrations in order; their numbers must rise by one."""
    migrations = _load(folder)
    if [migration.number for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise ConfigError(f"The migrations in {folder} are not numbered 1, 2, 3 and so on.")
    return migrations


def load_functions(folder: Path = SQL / "functions") -> list[SqlFile]:
    return _load(folder)


def _load(folder: Path) -> list[SqlFile]:
    return [SqlFile(path.stem, path.read_text()) for path in sorted(folder.glob("*.sql"))]
