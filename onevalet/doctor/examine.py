"""Run all probes side by side, each within its own time; whatever happens to one becomes a finding."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from asyncpg import PostgresError

from core.errors import OneValetError
from core.messaging.channels import Check
from onevalet.doctor.types import Area, Finding, Installation, Probe


@dataclass(frozen=True, slots=True)
class _Look:
    """What a probe found. `unread`: the database did not let it look."""

    probe: Probe
    checks: Sequence[Check]
    unread: bool = False


async def examine(installation: Installation, probes: Sequence[Probe]) -> list[Finding]:
    """Return the findings in the order of the areas; never raise."""
    looks = await asyncio.gather(*(_look(installation, probe) for probe in probes))
    if any(look.probe.area is Area.DATABASE and not all(check.ok for check in look.checks) for look in looks):
        # The database's own finding says so once.
        looks = [look for look in looks if not look.unread]
    order = list(Area)
    looks = sorted(looks, key=lambda look: order.index(look.probe.area))
    return [Finding.of(look.probe.area, check) for look in looks for check in look.checks]


async def _look(installation: Installation, probe: Probe) -> _Look:
    try:
        async with asyncio.timeout(probe.seconds):
            return _Look(probe, await probe.look(installation))
    except TimeoutError:
        detail, fix = f"no answer within {probe.seconds:g} s", "see whether what it asks can be reached"
        return _Look(probe, [Check(probe.name, False, detail, fix)], unread=probe.needs_database)
    except Exception as error:  # doctor shows what is wrong, whatever it is
        fix = "see the other findings; if they are well, this is a defect of ours"
        failed = Check(probe.name, False, f"could not be looked at ({type(error).__name__})", fix)
        unread = probe.needs_database and isinstance(error, OneValetError | PostgresError)
        return _Look(probe, [failed], unread)
