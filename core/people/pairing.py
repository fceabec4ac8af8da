"""Pairing: a stranger's code, what they are told, and how who runs us lets them in by it."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from core.db.database import Database
from core.ids import IdMaker
from core.people.access_policy import Listed, PersonRole

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""32 of them, without those that look alike: a letter is five bits."""
LENGTH = 8
VALID = timedelta(hours=1)
MAX_GUESSES_PER_SENDER = 3
"""Codes in a day, for one sender."""
MAX_GUESSES_PER_ACCOUNT = 30
"""Codes in an hour, for one account of a channel: what a flood of strangers may cost in messages."""
MAX_GUESSES = 10
GUESSES_WITHIN = timedelta(minutes=15)

type Choose = Callable[[str], str]
"""Chance: pick one of the letters."""


class PairOutcome(StrEnum):
    """What became of a code that was typed in."""

    PAIRED = "paired"
    WRONG = "wrong"
    EXPIRED = "expired"
    USED = "used"
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class Pairing:
    """Who was let in, or why nobody; `until`: when guesses count again."""

    outcome: PairOutcome
    channel: str = ""
    account: str = ""
    user_key: str = ""
    until: datetime | None = None


def new_code(choose: Choose = secrets.choice) -> str:
    """Make a code of 40 bits."""
    return "".join(choose(LETTERS) for _ in range(LENGTH))


def code_hash(code: str) -> bytes:
    """Return what is stored of a code, however it was typed: case, spaces and dashes do not count."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(b"onevalet pairing " + letters.encode()).digest()


def pairing_sentence(code: str) -> str:
    """Say to a stranger how to be let in: one text message, with no word that carriers take."""
    return (
        "This assistant is private. To be let in, give this code to whoever runs it, then write again: "
        f"{code[:4]}-{code[4:]} (it counts for one hour)."
    )


class Pairings:
    """Let strangers in, by their codes or by their addresses."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self._database = database
        self._make_id = make_id

    async def redeem(self, code: str, role: PersonRole, now: datetime, tier: str = "") -> Pairing:
        """Let in whoever was given this code. Wrong guesses are counted; beyond the limit none is looked at."""
        row = await self._database.one(
            "select * from redeem_pairing($1,$2,$3,$4,$5,$6,$7)",
            self._make_id("pair"),
            code_hash(code),
            role.value,
            tier,
            now,
            MAX_GUESSES,
            GUESSES_WITHIN,
        )
        return Pairing(PairOutcome(row["outcome"]), row["channel"], row["account"], row["user_key"], until=row["until"])

    async def admit(self, listed: Listed, role: PersonRole, now: datetime, tier: str = "") -> tuple[Pairing, ...]:
        """Let an address in without a code, or give one that is in this role; return where, none where nowhere.

        An address is of one account of ours. Where the entry names none, it is let in on the account that it wrote to,
        else on every one that anything came in by.
        """
        rows = await self._database.rows(
            "select account from admit_address($1,$2,$3,$4,$5,$6,$7)",
            self._make_id("pair"),
            listed.channel,
            listed.account,
            listed.user_key,
            role.value,
            tier,
            now,
        )
        return tuple(Pairing(PairOutcome.PAIRED, listed.channel, row["account"], listed.user_key) for row in rows)
