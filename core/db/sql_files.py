"""The SQL that this code brings: numbered migrations, and the functions of each room and ability."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import ConfigError

SQL = Path(__file__).parent / "sql"

_SERVES = re.compile(r"^-- serves code from (\d{4}) on: (.+)$", re.MULTILINE)
_PLACES = {
    "due": "        -- What abilities have due comes here, from their sql/due.sql.\n",
    "awaited": "        -- What abilities wait for comes here, from their sql/awaited.sql.\n",
}
"""Where functions of the spine ask abilities, by the names of the files with what is asked of each."""
_FUNCTION = re.compile(r"^create (?:or replace )?function (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A migration, or the functions of one room. `name`: the file's, without its ending, after that of its ability."""

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
    def functions(self) -> list[str]:
        return _FUNCTION.findall(self.sql)

    @property
    def serves_from(self) -> int | None:
        """Return the number of the oldest code that works once this migration is applied; None: any does."""
        found = _SERVES.search(self.sql)
        return int(found[1]) if found else None

    @property
    def takes_away(self) -> str:
        """Return what older code needs and this migration takes away, in the migration's own words."""
        found = _SERVES.search(self.sql)
        return found[2].rstrip(".") if found else ""

    def pieces(self) -> list[tuple[str | None, str]]:
        """Return the text in statements, each with the name of the function that it makes, if it makes one."""
        head, *texts = re.split(r"^(?=create )", self.sql, flags=re.MULTILINE)
        # Comments at the top are no statement of their own.
        texts = [head + texts[0], *texts[1:]] if texts else [head]
        return [((found := _FUNCTION.search(text)) and found[1], text) for text in texts]


@dataclass(frozen=True, slots=True)
class AbilitySql:
    """The SQL of an ability: `migrations/` and `functions/`, as the spine has them, `due.sql` and `awaited.sql`."""

    ability: str
    folder: Path

    def migrations(self) -> list[SqlFile]:
        """Return its migrations in order; their numbers must rise by one."""
        return self._named(load_migrations(self.folder / "migrations"))

    def functions(self) -> list[SqlFile]:
        return self._named(load_functions(self.folder / "functions"))

    def asked(self, name: str) -> str:
        """Return the select with what a function of the spine asks it; empty for none.

        `due`: the kinds of its work and their times, as `what_is_due` has them. `awaited`: a row if it waits for what
        `awaits_answer` was given.
        """
        path = self.folder / f"{name}.sql"
        return path.read_text() if path.exists() else ""

    def _named(self, files: Iterable[SqlFile]) -> list[SqlFile]:
        return [replace(file, name=f"{self.ability}/{file.name}") for file in files]


def with_abilities(functions: Iterable[SqlFile], abilities: Sequence[AbilitySql]) -> list[SqlFile]:
    """Return the functions of the spine, which asks abilities at its `_PLACES`, and then those of the abilities.

    Raises `ConfigError` for a function of an ability that another file makes too.
    """
    found = [*functions]
    for name, place in _PLACES.items():
        selects = [select for ability in abilities if (select := ability.asked(name))]
        asked = "".join(f"        union all\n{select.rstrip()}\n" for select in selects)
        if asked:
            found = [replace(file, sql=file.sql.replace(place, asked)) for file in found]
    made = {name: file.name for file in found for name in file.functions}
    for ability in abilities:
        for file in ability.functions():
            for name in file.functions:
                if made.setdefault(name, file.name) != file.name:
                    raise ConfigError(f"{file.name}.sql makes {name}, which {made[name]}.sql makes too: rename one.")
            found.append(file)
    return found


def load_migrations(folder: Path = SQL / "migrations") -> list[SqlFile]:
    """Return the migrations in order; their numbers must rise by one."""
    migrations = _load(folder)
    if [migration.number for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise ConfigError(f"The migrations in {folder} are not numbered 1, 2, 3 and so on.")
    return migrations


def load_before(migration: SqlFile, folder: Path = SQL / "before") -> SqlFile | None:
    """Return what is run before a migration, in a transaction of its own, if there is anything."""
    path = folder / f"{migration.name}.sql"
    return SqlFile(path.stem, path.read_text()) if path.exists() else None


def load_functions(folder: Path = SQL / "functions") -> list[SqlFile]:
    return _load(folder)


def _load(folder: Path) -> list[SqlFile]:
    return [SqlFile(path.stem, path.read_text()) for path in sorted(folder.glob("*.sql"))]
