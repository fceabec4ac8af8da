"""`pair`: admit the person who was given a code; works next to running processes, those of `dev` too."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from core.clock import Clock
from core.errors import ConfigError
from core.ids import make_id
from core.people.access_policy import Listed, PersonRole, parse_listed
from core.people.pairing import Pairing, Pairings, PairOutcome
from onevalet.cli.session import open_database
from onevalet.settings import Settings
from onevalet.wiring.channels import own_account


async def pair(settings: Settings, code: str, role: PersonRole, tier: str | None = None, address: str = "") -> bool:
    """Admit a person and print who it is, or why it failed. Return whether a person was admitted.

    The person is named by `code` or by `address`, such as `sms:+15551234567`. Raise `ConfigError` for neither or both.
    """
    if bool(code) == bool(address):
        raise ConfigError("Give a code, or an address such as `--address sms:+15551234567`.")
    listed = parse_listed(address, "The address") if address else None
    if tier and tier not in settings.tiers.names:
        raise ConfigError(f"There is no tier {tier!r}; there are {', '.join(settings.tiers.names)}.")
    async with open_database(settings, "pair") as database:
        pairings, now = Pairings(database, make_id), Clock(settings.onevalet_clock).now()
        if listed is not None:
            admitted = await pairings.admit(listed, role, now, tier)
            if not admitted and (account := own_account(settings, listed.channel)):
                admitted = await pairings.admit(replace(listed, account=account), role, now, tier)
            return _admitted(listed, admitted, role)
        pairing = await pairings.redeem(code, role, now, tier)
    paired = pairing.outcome is PairOutcome.PAIRED
    (sys.stdout if paired else sys.stderr).write(f"{sentence_of(pairing, role)}\n")
    return paired


def _admitted(listed: Listed, pairings: Sequence[Pairing], role: PersonRole) -> bool:
    for pairing in pairings:
        sys.stdout.write(f"{sentence_of(pairing, role)}\n")
    if not pairings:
        sys.stderr.write(
            f"Nothing came in by {listed.channel} yet, and it is not set up: let them write once, or run `init`.\n"
        )
    return bool(pairings)


def sentence_of(pairing: Pairing, role: PersonRole) -> str:
    """Return the message to an operator about a pairing."""
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
