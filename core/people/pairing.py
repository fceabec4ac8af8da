"""Pairing: a stranger's code, the message with it, and letting them in by it."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from core.db.database import Database
from core.ids import IdMaker
from core.language.catalogue import gettext
from core.people.access_policy import Listed, PersonRole

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""32 letters without look-alikes: five bits each."""
LENGTH = 8
VALID = timedelta(hours=1)
MAX_GUESSES_PER_SENDER = 3
"""Codes of a sender in a day."""
MAX_GUESSES_PER_ACCOUNT = 30
"""Codes of a channel's account in an hour: the messages that a flood of strangers may cost."""
MAX_GUESSES = 10
GUESSES_WITHIN = timedelta(minutes=15)

type Choose = Callable[[str], str]
"""Picks a letter at random."""


class PairOutcome(StrEnum):
    """The outcome of a typed code."""

    PAIRED = "paired"
    WRONG = "wrong"
    EXPIRED = "expired"
    USED = "used"
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class Pairing:
    """The admitted person, or the reason why there is none; `until`: when guesses are accepted again."""

    outcome: PairOutcome
    channel: str = ""
    account: str | None = None
    user_key: str = ""
    until: datetime | None = None


def new_code(choose: Choose = secrets.choice) -> str:
    return "".join(choose(LETTERS) for _ in range(LENGTH))


def code_hash(code: str) -> bytes:
    """Return the stored hash of a code; case, spaces and dashes do not matter."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(b"onevalet pairing " + letters.encode()).digest()


def pairing_sentence(code: str) -> str:
    """Return the message to a stranger with the way to be let in: a single SMS, without words that carriers filter."""
    return gettext(
        "This assistant is private. To be let in, give this code to whoever runs it, then write again: {code} (it is "
        "valid for one hour).",
        code=f"{code[:4]}-{code[4:]}",
    )


class Pairings:
    """Let strangers in, by their codes or by their addresses."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self._database = database
        self._make_id = make_id

    async def redeem(self, code: str, role: PersonRole, now: datetime, tier: str | None = None) -> Pairing:
        """Let in the person with this code. Wrong guesses are counted; beyond the limit all are refused."""
        row = await self._database.one(
            "select * from redeem_pairing($1,$2,$3,$4,$5,$6,$7)",
            self._make_id("pair"),
            code_hash(code),
            role.value,
            tier or "",
            now,
            MAX_GUESSES,
            GUESSES_WITHIN,
        )
        return Pairing(
            PairOutcome(row["outcome"]), row["channel"], row["account"] or None, row["user_key"], until=row["until"]
        )

    async def admit(
        self, listed: Listed, role: PersonRole, now: datetime, tier: str | None = None
    ) -> tuple[Pairing, ...]:
        """Let an address in without a code, or change its role; return each account on which it was let in.

        An address belongs to one of our accounts. If the entry names none, it is let in on the account that it wrote
        to, else on every account that has received anything.
        """
        rows = await self._database.rows(
            "select account from admit_address($1,$2,$3,$4,$5,$6,$7)",
            self._make_id("pair"),
            listed.channel,
            listed.account or "",
            listed.user_key,
            role.value,
            tier or "",
            now,
        )
        return tuple(Pairing(PairOutcome.PAIRED, listed.channel, row["account"], listed.user_key) for row in rows)
