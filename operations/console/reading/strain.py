"""Shortages of an installation, as checks: a halt, reception, leases, refusing providers, connections."""

from collections.abc import Mapping
from datetime import timedelta

from core.messaging.channels import Check
from core.messaging.stalls import POLL_TROUBLED, POLLERS
from operations.console.access import Scope

LAPSED = timedelta(minutes=1)
"""Time after its end from which a lease is shown. Any worker takes it up within seconds."""
LATELY = timedelta(days=1)
_HALTED = (Check("halted", False, "all work, by an owner", "bin/onevalet doctor says how it is lifted"),)
FULL = 0.8
"""The share of the server's connections above which it is red: the next process may need as many as this process."""


async def read_strain(scope: Scope, ways_in: Mapping[str, str]) -> list[Check]:
    """Return the checks, for an operator. `ways_in`: the problems known to this process's channels, see `stalls_of`."""
    database, problems = scope.everybody(), dict(ways_in)
    for row in await database.rows(POLLERS):
        problem = "nobody polls it" if row["unpolled"] else POLL_TROUBLED if row["troubled"] else ""
        problems[row["channel"]] = problem or problems.get(row["channel"], "")
    strain = await database.one("select *, is_halted() as halted from console_strain($1)", LAPSED)
    given_up = await database.rows("select * from console_given_up($1)", LATELY)
    return [
        *(_HALTED if strain["halted"] else ()),
        *(_way_in(channel, problem) for channel, problem in sorted(problems.items())),
        _leases(strain["lapsed"]),
        _connections(strain["connections"], strain["most"]),
        *(_given_up(row["channel"], row["messages"], row["reason"]) for row in given_up),
    ]


def _way_in(channel: str, problem: str) -> Check:
    fix = "bin/onevalet doctor asks the provider, and says what to do" if problem else ""
    return Check(f"{channel}: way in", not problem, problem or "open", fix)


def _leases(lapsed: int) -> Check:
    detail = f"{lapsed} of processes that are gone, taken up by none" if lapsed else "all are held by processes at work"
    return Check("leases", not lapsed, detail, "see whether a worker is at work, and its log" if lapsed else "")


def _connections(used: int, most: int) -> Check:
    is_full = used >= most * FULL
    fix = "raise max_connections, or run fewer processes" if is_full else ""
    return Check("connections", not is_full, f"{used} of Postgres' {most} are used", fix)


def _given_up(channel: str, messages: int, reason: str) -> Check:
    detail = f"{messages} given up since this time yesterday, most often: {reason or 'no reason given'}"
    return Check(f"{channel}: given up", False, detail, "see Deliveries, to send them again or leave them")
