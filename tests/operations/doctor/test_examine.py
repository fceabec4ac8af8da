"""All probes run side by side, each within its own time, and none of them can end the others."""

import asyncio

from core.errors import StoreUnavailable
from core.messaging.channels import Check
from onevalet.settings import Settings
from operations.doctor.every import all_probes
from operations.doctor.examine import examine
from operations.doctor.types import Area, Finding, Installation, Probe, State

HERE = Installation(Settings(_env_file=None))
GOOD = Check("mail", True, "answers")
NO_DATABASE = Check("database", False, "does not answer", "start Postgres")


async def test_probes_run_side_by_side_and_come_in_the_order_of_areas() -> None:
    met = asyncio.Barrier(2)

    async def meets(_: Installation) -> list[Check]:
        await met.wait()
        return [GOOD]

    probes = [Probe(Area.KEYS, "keys", meets), Probe(Area.DATABASE, "database", meets)]
    assert [finding.area for finding in await examine(HERE, probes)] == [Area.DATABASE, Area.KEYS]


async def test_a_probe_that_hangs_or_fails_is_red_and_the_others_are_told() -> None:
    async def hangs(_: Installation) -> list[Check]:
        await asyncio.Event().wait()
        return []

    async def fails(_: Installation) -> list[Check]:
        raise LookupError("a secret")

    async def answers(_: Installation) -> list[Check]:
        return [GOOD]

    probes = [
        Probe(Area.SEARCH, "slow", hangs, seconds=0.01),
        Probe(Area.SEARCH, "broken", fails),
        Probe(Area.SEARCH, "mail", answers),
    ]
    slow, broken, mail = await examine(HERE, probes)
    assert (slow.what, slow.state, slow.detail) == ("slow", State.RED, "took too long: no answer within 0.01 s")
    assert (broken.state, broken.detail) == (State.RED, "could not be looked at (LookupError)")
    assert mail == Finding(Area.SEARCH, "mail", State.GOOD, "answers")


async def test_a_database_that_is_away_is_told_once() -> None:
    async def away(_: Installation) -> list[Check]:
        raise StoreUnavailable("refused")

    def database(*checks: Check) -> Probe:
        async def look(_: Installation) -> list[Check]:
            return [*checks]

        return Probe(Area.DATABASE, "database", look, needs_database=True)

    work = Probe(Area.WORK, "work", away, needs_database=True)
    assert [found.what for found in await examine(HERE, [database(NO_DATABASE), work])] == ["database"]
    [red] = await examine(HERE, [database(), work])
    assert (red.what, red.state) == ("work", State.RED), "no other finding says so"


def test_each_probe_has_a_name_and_a_limit_of_its_own() -> None:
    assert len({probe.name for probe in all_probes()}) == len(all_probes())
    assert all(0 < probe.seconds <= 60 for probe in all_probes())
