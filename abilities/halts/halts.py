"""Halts of all work, as operators begin, see and lift them."""

from dataclasses import dataclass
from datetime import datetime

from core.db.database import Database

BY_COMMAND = "the command line"


@dataclass(frozen=True, slots=True)
class Halt:
    """A halt in force. `how`: its cause, such as `word by sms`; `code`: the code that lifts it in chat."""

    at: datetime
    how: str
    code: str


@dataclass(frozen=True, slots=True)
class Halts:
    """Begin, read and lift halts. Calls may be repeated."""

    database: Database

    async def begin(self) -> Halt:
        """Halt all work, unless it is halted; return the halt."""
        while True:
            await self.database.one("select begin_halt($1)", BY_COMMAND)
            if (halt := await self.now()) is not None:  # an owner may lift it meanwhile
                return halt

    async def lift(self) -> bool:
        """Resume all work; return False if nothing was halted."""
        row = await self.database.one("select end_halt($1) as lifted", BY_COMMAND)
        return bool(row["lifted"])

    async def now(self) -> Halt | None:
        """Return the halt that lasts, if any."""
        rows = await self.database.rows("select at, how, code from halts where lifted_at is null")
        return Halt(rows[0]["at"], rows[0]["how"], rows[0]["code"]) if rows else None
