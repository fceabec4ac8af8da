"""The calendars of a household: of each member only what they show to the others, read from their own accounts."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from abilities.calendar.together import CompanionCalendars, household_agenda
from abilities.household.merge import HouseholdMerge
from abilities.household.roles import HouseholdRole, ShownCalendar
from abilities.household.shared import SharedInHousehold
from core.http.guarded_client import GuardedClient
from core.tools.sharing import Companion, Sharing
from onevalet import ToolExecutionContext, ToolFailed
from tests.abilities.calendar.house import Connected
from tests.abilities.household.test_membership_model import World
from tests.abilities.household.test_walls import Street
from tests.clocks import StandingClock
from tests.core.harness import Store
from tests.core.people.harness import Harness
from tests.servers.radicale import Radicale

ANN, BEN, CLEO, DAN = range(4)
_EVENT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//test//EN
BEGIN:VEVENT
UID:{uid}
DTSTAMP:20261101T000000Z
DTSTART:{start}
DTEND:{end}
SUMMARY:{title}
LOCATION:CANARY_PLACE
DESCRIPTION:CANARY_TEXT
END:VEVENT
END:VCALENDAR
"""
_TOGETHER = "Sat 28 Nov 2026, 10:00–11:30"


def event(uid: str, start: str, end: str, title: str) -> str:
    return _EVENT.format(uid=uid, start=start, end=end, title=title).replace("\n", "\r\n")


class Family(Street):
    """Ann, whose calendar is empty, and Ben, who dances on Saturday, live together; Cleo and Dan live alone."""

    http: GuardedClient
    accounts: dict[int, Connected]

    def asking(self, person: int) -> ToolExecutionContext:
        """Return the context of somebody's question. It is Saturday, 21 November 2026, noon."""
        calendars = CompanionCalendars(
            {self.tenant(one): of_one for one, of_one in self.accounts.items() if one in self.world.tenants}.__getitem__
        )
        context = self.context(person)
        return replace(
            context,
            http=self.http,
            accounts=self.accounts[person],  # type: ignore[arg-type]
            clock=StandingClock(),
            services={**context.services, CompanionCalendars: calendars},
        )

    async def seen(self, person: int = ANN, days: int = 1) -> str:
        return str(await household_agenda(self.asking(person), "2026-11-28", days))

    async def shows(self, person: int, shown: ShownCalendar) -> None:
        await self.world.by(person).show_calendar(shown)


@pytest.fixture
async def family(store: Store, radicale: Radicale) -> AsyncIterator[Family]:
    world = World(Harness(store, hooks=(HouseholdMerge(),)))
    await world.begin()
    await world.do(("make", ANN))
    await world.do(("bring", ANN, BEN, HouseholdRole.ADULT))
    radicale.make_calendar("ann", "Home")
    url = radicale.make_calendar("bob", "Home")
    radicale.put("bob", f"{url}a.ics", event("a", "20261128T100000Z", "20261128T110000Z", "CANARY_DANCE"))
    radicale.put("bob", f"{url}b.ics", event("b", "20261128T103000Z", "20261128T113000Z", "CANARY_TEA"))
    radicale.put("bob", f"{url}c.ics", event("c", "20261130T080000Z", "20261130T090000Z", "CANARY_MONDAY"))
    family = Family(world, store)
    family.http = GuardedClient(allowed_hosts=[radicale.host])
    own, of_ben = Connected([radicale.account()]), Connected([radicale.account("bob")])
    family.accounts = {ANN: own, BEN: of_ben, CLEO: Connected([]), DAN: own}
    yield family
    await family.http.close()


async def test_nothing_of_a_calendar_is_shown_until_its_owner_says_so(family: Family) -> None:
    seen = await family.seen()
    assert "You: nothing." in seen
    assert "Nothing of their calendars is shown by" in seen
    assert "10:00" not in seen
    assert "CANARY" not in seen


async def test_who_shows_when_they_are_busy_shows_nothing_else(family: Family) -> None:
    await family.shows(BEN, ShownCalendar.BUSY)
    seen = await family.seen()
    assert f"- {_TOGETHER}: busy" in seen
    assert seen.count("busy") == 1
    assert "CANARY" not in seen
    assert "30 Nov" in await family.seen(days=3)


async def test_who_shows_their_titles_shows_no_places_or_guests(family: Family) -> None:
    await family.shows(BEN, ShownCalendar.TITLES)
    seen = await family.seen()
    assert "- Sat 28 Nov 2026, 10:00–11:00: CANARY_DANCE" in seen
    assert "CANARY_TEA" in seen
    assert "CANARY_MONDAY" not in seen
    assert "CANARY_PLACE" not in seen
    assert "CANARY_TEXT" not in seen
    # Ben sees his own in any case, and nothing of Ann's.
    assert "CANARY_DANCE" in await family.seen(BEN)
    assert "Nothing of their calendars is shown by" in await family.seen(BEN)


@pytest.mark.parametrize("deed", ["off", "leave", "put out", "join again", "link"])
async def test_what_was_shown_is_seen_no_more_after(family: Family, deed: str) -> None:
    await family.shows(BEN, ShownCalendar.TITLES)
    world = family.world
    match deed:
        case "off":
            await family.shows(BEN, ShownCalendar.NOTHING)
        case "leave" | "join again":
            await world.do(("leave", BEN))
        case "put out":
            await world.do(("change", ANN, BEN, None))
        case "link":
            await world.do(("merge", BEN, CLEO))
    if deed == "join again":
        await world.do(("bring", ANN, BEN, HouseholdRole.ADULT))
    assert "CANARY" not in await family.seen()
    assert "10:00" not in await family.seen()


async def test_nobody_elses_accounts_are_opened(family: Family) -> None:
    """Those of a stranger, of a member who shows nothing, and of one who has left since the question began."""
    await family.shows(BEN, ShownCalendar.BUSY)
    sharing = SharedInHousehold(family.world.by(ANN))
    calendars = family.asking(ANN).service(CompanionCalendars)
    ben = Companion(family.tenant(BEN), "Ben", calendar="busy")
    assert await calendars.of(ben, sharing) is family.accounts[BEN]
    for other in (CLEO, ANN):
        with pytest.raises(ToolFailed):
            await calendars.of(Companion(family.tenant(other), "X", calendar="titles"), sharing)
    await family.world.do(("leave", BEN))
    with pytest.raises(ToolFailed):
        await calendars.of(ben, sharing)
    assert Sharing in family.asking(CLEO).services
    with pytest.raises(ToolFailed, match="in no household"):
        await family.seen(CLEO)


async def test_a_calendar_that_cannot_be_read_keeps_no_other_from_being_seen(family: Family) -> None:
    await family.world.do(("bring", ANN, CLEO, HouseholdRole.CHILD))
    await family.shows(CLEO, ShownCalendar.TITLES)
    await family.shows(BEN, ShownCalendar.BUSY)
    seen = await family.seen()
    assert "their calendar cannot be seen now" in seen
    assert f"{_TOGETHER}: busy" in seen
