"""Run all probes side by side, each within its own time; any error becomes a finding.

A late probe is no fault yet: all of them at once, on a busy machine, make a healthy server late. A late probe runs
again, alone, after all others.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from asyncpg import PostgresError

from core.errors import OneValetError
from core.messaging.channels import Check
from operations.doctor.types import Area, Finding, Installation, Probe, State

AGAIN = 60.0
"""Seconds for all second looks together; those that do not fit keep their first."""
_UNREACHED = "see whether what it asks can be reached"


@dataclass(frozen=True, slots=True)
class _Look:
    """The result of a probe. `unread`: the database did not let it look."""

    probe: Probe
    checks: Sequence[Check]
    unread: bool = False

    @property
    def late(self) -> bool:
        return any(check.late for check in self.checks)


async def examine(installation: Installation, probes: Sequence[Probe]) -> list[Finding]:
    """Return the findings in the order of the areas; never raise."""
    order = list(Area)
    looks = await asyncio.gather(*(_look(installation, probe) for probe in probes))
    looks, in_time = await _again(installation, sorted(looks, key=lambda look: order.index(look.probe.area)))
    if _is_away(looks):
        # The database's own finding says so once.
        looks = [look for look in looks if not look.unread]
    return [*_busy(in_time), *(Finding.of(look.probe.area, check) for look in looks for check in look.checks)]


async def _again(installation: Installation, looks: Sequence[_Look]) -> tuple[list[_Look], list[str]]:
    """Run each late probe again, in sequence; also return the names of those that only needed time."""
    found: list[_Look] = []
    in_time: list[str] = []
    clock = asyncio.get_running_loop().time
    ends = clock() + AGAIN
    for look in looks:
        if not look.late or (look.unread and _is_away(found)):
            found.append(look)
            continue
        left = ends - clock()
        if left > 1:
            look = await _look(installation, replace(look.probe, seconds=min(left, look.probe.seconds)))
            in_time += [] if look.late else [look.probe.name]
        found.append(replace(look, checks=[_still_late(check) for check in look.checks]))
    return found, in_time


def _busy(in_time: Sequence[str]) -> list[Finding]:
    if not in_time:
        return []
    detail = f"too late at first, in time when asked alone: {', '.join(in_time)}"
    fix = "this machine, or what it asks, has much to do at the moment"
    return [Finding(Area.SYSTEM, "busy", State.ADVICE, detail, fix)]


def _still_late(check: Check) -> Check:
    if not check.late:
        return check
    detail = f"took too long: {check.detail}"
    fix = f"see whether it, or this machine, has too much to do, and run this again; if it stays so, {check.fix}"
    return replace(check, detail=detail, fix=fix)


def _is_away(looks: Sequence[_Look]) -> bool:
    """Return whether any of the database's own findings says that it does not serve."""
    told = (look for look in looks if look.probe.area is Area.DATABASE and not look.unread)
    return any(not check.ok for look in told for check in look.checks)


async def _look(installation: Installation, probe: Probe) -> _Look:
    try:
        async with asyncio.timeout(probe.seconds):
            return _Look(probe, await probe.look(installation))
    except TimeoutError as error:
        failed = Check.failed(probe.name, error, f"no answer within {probe.seconds:g} s", _UNREACHED)
        return _Look(probe, [failed], unread=probe.needs_database)
    except Exception as error:  # doctor shows every error, of any kind
        fix = "see the other findings; if they are well, this is a defect of ours"
        failed = Check.failed(probe.name, error, f"could not be looked at ({type(error).__name__})", fix)
        failed = replace(failed, fix=_UNREACHED) if failed.late else failed
        unread = probe.needs_database and isinstance(error, OneValetError | PostgresError)
        return _Look(probe, [failed], unread)
