"""`pair`: let in whoever was given a code; beside running processes, of `dev` too."""

import sys

from core.access import PersonRole
from core.clock import Clock
from core.database import Database
from core.errors import ConfigError
from core.ids import make_id
from core.pairing import Pairing, Pairings, PairOutcome
from onevalet.reach import reach
from onevalet.settings import Settings


async def pair(settings: Settings, code: str, role: PersonRole, tier: str = "") -> bool:
    """Let them in and say who it is, or say why not; True when somebody came in."""
    if tier and tier not in settings.tiers.names:
        raise ConfigError(f"There is no tier {tier!r}; there are {', '.join(settings.tiers.names)}.")
    database = Database(reach(settings).database_url, size=1, name="onevalet pair")
    try:
        pairing = await Pairings(database, make_id).redeem(code, role, Clock(settings.onevalet_clock).now(), tier)
    finally:
        await database.close()
    well = pairing.outcome is PairOutcome.PAIRED
    (sys.stdout if well else sys.stderr).write(f"{_sentence(pairing, role)}\n")
    return well


def _sentence(pairing: Pairing, role: PersonRole) -> str:
    match pairing.outcome:
        case PairOutcome.PAIRED:
            return f"{pairing.channel} {pairing.user_key} is in, as {role.value}: they may write now."
        case PairOutcome.WRONG:
            return "Nobody was given this code. It has eight letters and digits, without 0, 1, I and O."
        case PairOutcome.EXPIRED:
            return "This code has run out. When they write again, they get a new one."
        case PairOutcome.USED:
            return "This code was used already."
        case PairOutcome.LIMITED:
            until = f"{pairing.until:%H:%M} UTC" if pairing.until else "a while"
            return f"Too many wrong codes. No code counts until {until}."
