"""The SQL that this code brings: numbered migrations, and the functions of each room."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError

SQL = Path(__file__).parent / "sql"

_SERVES = re.compile(r"^-- serves code from (\d{4}) on: (.+)$", re.MULTILINE)
_FUNCTION = re.compile(r"^create (?:or replace )?function (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A migration, or the functions of one room. `name`: the file's, without its ending."""

    name: str
    sql: str

    @property
    def number(self) -> int:
        return int(self.name.split("_", 1)[0])

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
