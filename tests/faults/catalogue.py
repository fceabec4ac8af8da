"""All tests, each in its full size and in the short one that the suite runs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.faults import (
    away,
    clocks,
    deaths,
    decisions,
    glitches,
    hanging,
    named,
    neighbours,
    refusals,
    soak,
    stores,
    strange,
    wire,
)
from tests.faults.abilities import points as abilities
from tests.faults.abilities.run import ability_points
from tests.faults.accounts import points as accounts
from tests.faults.extensions import points as extensions
from tests.faults.extensions.run import extension_points
from tests.faults.harness import Harness
from tests.faults.households import points as households
from tests.faults.households.run import household_points
from tests.faults.messages import points as messages
from tests.faults.peers.clients import CLIENTS
from tests.faults.peers.run import hostile_peers, manners_for
from tests.faults.points import BY_NAME, CHANNELS, MUTATIONS, POINTS
from tests.faults.results import Result

type Run = Callable[[Harness], Awaitable[Result]]

SHORT_POINTS = ("receive_messages after", "send after")
SHORT_MUTATIONS = ("started",)


@dataclass(frozen=True, slots=True)
class Test:
    """One test. `people`, `webs` and `workers`: what its harness needs in the full size; `settings` of our processes.

    `kept`: its workers have their supervisors.
    """

    __test__ = False

    name: str
    full: Run
    short: Run | None = None
    people: int = 50
    webs: int = 2
    workers: int = 2
    kept: bool = False
    pace: float = 0.1
    settings: dict[str, str] = field(default_factory=dict)
    small: bool = False
    """Postgres lies on a disk that can be filled up, where that can be had."""


CATALOGUE: tuple[Test, ...] = (
    Test(
        "T1",
        lambda harness: deaths.kill_loop(harness, kills=200, messages=2000, every=2.0),
        lambda harness: deaths.kill_loop(harness, kills=1, messages=8, every=0.6),
        workers=3,
        kept=True,
    ),
    Test(
        "T2",
        lambda harness: named.crash_points(
            harness,
            points=POINTS,
            channels=CHANNELS,
            of_accounts=(accounts.POINTS, accounts.MUTATIONS),
            of_messages=(messages.POINTS, messages.MUTATIONS),
        ),
        lambda harness: named.crash_points(
            harness,
            points=[BY_NAME[name] for name in SHORT_POINTS],
            channels=["sms"],
            mutations=[mutation for mutation in MUTATIONS if mutation.drop in SHORT_MUTATIONS],
        ),
        people=sum(
            (
                *(len(POINTS) * len(CHANNELS), len(MUTATIONS)),
                *(len(accounts.POINTS), len(accounts.MUTATIONS)),
                *(len(messages.POINTS), len(messages.MUTATIONS)),
            )
        ),
        webs=1,
        workers=1,
    ),
    Test(
        "T3",
        lambda harness: stores.postgres(harness, strikes=36, messages=800, every=5.5),
        lambda harness: stores.postgres(harness, strikes=3, messages=6, every=0.1),
    ),
    Test(
        "T4",
        lambda harness: stores.redis(harness, strikes=50, messages=800, every=5.2, away=5.0),
        lambda harness: stores.redis(harness, strikes=3, messages=6, every=0.1, away=0.5),
    ),
    Test(
        "T5",
        lambda harness: wire.redelivery(harness, messages=5000, seconds=180),
        lambda harness: wire.redelivery(harness, messages=9, seconds=0.3),
    ),
    Test(
        "T6",
        lambda harness: wire.provider_faults(harness, messages=600, seconds=60, share=0.2, stops=4),
        lambda harness: wire.provider_faults(harness, messages=9, seconds=0.3, share=0.2, stops=1),
    ),
    Test(
        "T7",
        lambda harness: away.outages(
            harness, lengths=(20.0, 600.0, 3 * away.HOUR, 25 * away.HOUR), messages=150, real_seconds=12
        ),
        lambda harness: away.outages(harness, lengths=(away.HOUR,), messages=9, real_seconds=1),
        pace=1.0,
    ),
    Test(
        "T8",
        lambda harness: clocks.clocks(harness, messages=300, seconds=30),
        lambda harness: clocks.clocks(harness, messages=9, seconds=3, steps=False),
    ),
    Test(
        "T9",
        lambda harness: decisions.races(harness, cards=1000, late=50),
        lambda harness: decisions.races(harness, cards=9, late=9),
    ),
    Test(
        "T10",
        lambda harness: deaths.poison(harness, messages=10, slow_seconds=40, seconds=10),
        lambda harness: deaths.poison(harness, messages=1, slow_seconds=2, seconds=3),
        kept=True,
    ),
    Test(
        "T11",
        lambda harness: deaths.deploys(harness, times=10, messages=1000),
        lambda harness: deaths.deploys(harness, times=1, messages=9),
    ),
    Test(
        "T13",
        lambda harness: hanging.hang(harness, hanging=5, messages=100, seconds=30),
        lambda harness: hanging.hang(harness, hanging=1, messages=8, seconds=9),
        kept=True,
    ),
    Test(
        "T14",
        lambda harness: refusals.refuses(
            harness, kinds=refusals.KINDS if harness.disk else refusals.EVERYWHERE, messages=200, seconds=30
        ),
        lambda harness: refusals.refuses(harness, kinds=refusals.EVERYWHERE, messages=6, seconds=2.5),
        small=True,
    ),
    Test(
        "T15",
        lambda harness: strange.providers(harness, kinds=[*strange.STRANGE], messages=60, seconds=25),
        lambda harness: strange.providers(
            harness, kinds=["502 with HTML", strange.RATE_LIMIT_DAY], messages=6, seconds=1
        ),
    ),
    Test(
        "T16",
        lambda harness: strange.models(harness, each=3),
        lambda harness: strange.models(harness, each=1),
    ),
    Test(
        "T17",
        lambda harness: neighbours.neighbours(harness, texts=15),
        webs=1,
        workers=1,
        settings={"ONEVALET_RATE_PER_MINUTE": "30", "ONEVALET_SMS_SEGMENTS_PERSON_DAY": "200"},
    ),
    Test(
        "T18",
        lambda harness: glitches.glitches(harness, messages=30, seconds=10),
        people=15,
        webs=1,
        workers=1,
    ),
    Test(
        "T21",
        lambda harness: extension_points(harness, points=extensions.POINTS, mutations=extensions.MUTATIONS),
        people=len(extensions.POINTS) + len(extensions.MUTATIONS),
        webs=1,
        workers=1,
    ),
    Test(
        "T22",
        hostile_peers,
        people=1 + sum(1 + len(manners_for(client)) for client in CLIENTS),
        webs=1,
        workers=1,
    ),
    Test(
        "T23",
        lambda harness: household_points(harness, points=households.POINTS, mutations=households.MUTATIONS),
        people=2 * (len(households.POINTS) + len(households.MUTATIONS)),
        webs=1,
        workers=1,
    ),
    Test(
        "T24",
        lambda harness: ability_points(harness, points=abilities.POINTS, mutations=abilities.MUTATIONS),
        people=len(abilities.POINTS) + len(abilities.MUTATIONS) + 1,
        webs=1,
        workers=1,
    ),
)
BY_TEST = {test.name: test for test in CATALOGUE}


SHORT_HOUSE = Test(
    "short", BY_TEST["T1"].full, people=9, webs=1, workers=2, settings={"FAULTS_LEASE": "5", "FAULTS_HUNG": "7"}
)
"""What all short forms share: one harness, in which a dead worker's turn is taken over sooner."""


def soak_of(minutes: float) -> Test:
    """Make T12, which runs for so long."""
    return Test("T12", lambda harness: soak.soak(harness, minutes=minutes))
