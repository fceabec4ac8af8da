"""Places in the database: kept as they come, in any order, for a day, and once however often an answer is lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from yarl import URL

from abilities.places import tools
from abilities.places.links import PlaceLinks
from abilities.places.offering import offer_zones, prune
from abilities.places.places import Places, key_of
from abilities.places.types import KEPT, SavedPlace, metres_between
from abilities.places.zones import differ, zone_at
from core.http.guarded_client import GuardedClient
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.inbound import PlaceMove
from core.messaging.messages import Address, InboundMessage, ReachabilityChange, ReachabilityReason
from core.messaging.places import PIN, SentPlace
from core.notifications.types import Notification, NotificationStatus, Notified
from core.people.access_policy import Access, Policy
from core.tools.place_access import KnownPlace, PlaceAccess
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry
from tests.abilities.places.harness import services_of
from tests.agents.services import open_meteo
from tests.clocks import NOON, StandingClock
from tests.core.builders import a_context
from tests.core.credentials.harness import KEYS
from tests.core.harness import ACCOUNT, CHANNEL, Store, TwiceDatabase, opened

ANN = "+15550000001"
HERE, THERE = SentPlace(52.520008, 13.404954, 12.0), SentPlace(52.486243, 13.424637, 30.0)


def live(place: SentPlace, until: datetime | None) -> SentPlace:
    return replace(place, live_until=until)


def sent(place: SentPlace, number: str = "1", sender: str = ANN, at: datetime = NOON) -> InboundMessage:
    """Return a message that is a place."""
    return InboundMessage(
        Address(CHANNEL, ACCOUNT, sender),
        sender,
        (f"m{sender}{number}",),
        PIN,
        sent_at=at,
        provider_id=number,
        place=place,
    )


def moved(place: SentPlace, at: datetime, number: str = "1", sender: str = ANN) -> PlaceMove:
    """Return an update of a message that is a place."""
    return PlaceMove(Address(CHANNEL, ACCOUNT, sender), sender, number, place, at)


async def person(store: Store, sender: str = ANN) -> str:
    """Return somebody's id."""
    return str(await store.one("select tenant_id from identities where user_key = $1", sender))


async def places(store: Store, clock: StandingClock | None = None, sender: str = ANN) -> Places:
    """Return somebody's places, at noon."""
    return Places(store.database, clock or StandingClock(), await person(store, sender))


async def context_of(store: Store, clock: StandingClock | None = None, key: str = "key") -> ToolExecutionContext:
    """Return the context of a call of Ann's."""
    tenant, clock = await person(store), clock or StandingClock()
    services = {kind: make(tenant, "turn") for kind, make in services_of(store, clock, {}).items()}
    return replace(a_context(tenant_id=tenant, idempotency_key=key), clock=clock, services=services)


async def test_of_updates_in_any_order_the_latest_counts(store: Store) -> None:
    until = NOON + timedelta(hours=1)
    await store.say("hello")
    for minutes, place in ((3, THERE), (2, HERE), (3, THERE)):
        assert not (await store.inbox.accept(moved(live(place, until), NOON + timedelta(minutes=minutes)))).duplicate
    await store.inbox.accept(sent(live(HERE, until)))
    known = await (await places(store)).latest()
    assert known is not None
    assert (known.latitude, known.accuracy, known.live) == (THERE.latitude, 30.0, True)
    assert known.zone == "Europe/Berlin"
    assert await store.one("select count(*) from seen_places") == 1


async def test_a_place_that_is_shared_no_longer_is_not_where_the_person_is(store: Store) -> None:
    await store.inbox.accept(sent(live(HERE, NOON + timedelta(hours=1))))
    known = await places(store)
    assert await known.shared() is not None
    await store.inbox.accept(moved(HERE, NOON + timedelta(minutes=1)))
    clock = StandingClock(NOON + timedelta(minutes=2))
    known = await places(store, clock)
    assert await known.shared() is None
    assert (await known.here()).live is False


async def test_a_live_place_that_is_stale_says_nothing_of_now(store: Store) -> None:
    await store.inbox.accept(sent(live(HERE, NOON + timedelta(hours=8))))
    clock = StandingClock(NOON + timedelta(minutes=31))
    assert await (await places(store, clock)).shared() is None
    context = await context_of(store, clock)
    await (await places(store)).save(SavedPlace("office", HERE.latitude, HERE.longitude))
    assert (await tools.at_place("office", context)).data["here"] is None


async def test_promise_12_strangers_and_stopped_people_leave_no_place(store: Store) -> None:
    at = NOON + timedelta(minutes=1)
    assert (await store.inbox.accept(moved(live(HERE, at), at, sender="+15550000009"))).duplicate
    closed = Inbox(store.database, store.wakeups, store.make_id, Access(Policy.ALLOWLIST))
    await closed.accept(sent(HERE, sender="+15550000009"))
    await store.inbox.accept(sent(HERE))
    await store.inbox.accept(ReachabilityChange(CHANNEL, ACCOUNT, ANN, False, ReachabilityReason.OPTED_OUT, ("stop",)))
    await store.inbox.accept(sent(THERE, "2"))
    assert (await store.inbox.accept(moved(THERE, at))).duplicate
    assert await store.column("select latitude from seen_places") == [HERE.latitude]


async def test_promise_2_a_repeat_and_a_lost_answer_change_nothing(database_url: str) -> None:
    twice = TwiceDatabase(database_url)
    async with opened(database_url, twice) as store:
        clock, until = StandingClock(), NOON + timedelta(hours=1)
        await store.inbox.accept(sent(live(HERE, until)))
        await store.inbox.accept(sent(live(HERE, until)))
        for _ in range(2):
            await store.inbox.accept(moved(live(THERE, until), NOON + timedelta(minutes=1)))
        tenant = await person(store)
        links = PlaceLinks(store.database, "https://valet.example.com", KEYS)
        url = await links.make(tenant, None, clock.now())
        assert url is not None
        token = url.rpartition("/")[2]
        assert await links.take(tenant, token, HERE, "Thanks.", make_id, clock.now()) == (True, None)
        assert await links.take(tenant, token, THERE, "Thanks.", make_id, clock.now()) == (False, None)
        assert await store.one("select count(*) from seen_places") == 2
        assert await store.one("select count(*) from inbound") == 1
        assert [statement for statement in twice.differing if "place" in statement] == []


async def test_places_are_deleted_after_a_day(store: Store) -> None:
    clock = StandingClock()
    await store.inbox.accept(sent(HERE, "1"))
    await store.inbox.accept(sent(live(THERE, NOON + timedelta(days=2)), "2", at=NOON + timedelta(hours=2)))
    clock.move(KEPT)
    known = await places(store, clock)
    assert [place.latitude for place in await known.seen()] == [THERE.latitude]
    clock.move(seconds=1)
    await prune(store.database, clock)
    assert await store.one("select count(*) from seen_places") == 1
    assert await known.forget() == (1, 1)
    await prune(store.database, clock)
    clock.move(hours=3)
    await prune(store.database, clock)
    assert await store.one("select count(*) from seen_places") == 1, "it is still shared"
    clock.move(days=2)
    await prune(store.database, clock)
    assert await store.one("select count(*) from seen_places") == 0


@pytest.mark.parametrize("ended", ["told", "over"])
async def test_a_late_move_brings_no_forgotten_place_back(store: Store, ended: str) -> None:
    until = NOON + timedelta(hours=1)
    await store.inbox.accept(sent(live(HERE, until)))
    clock = StandingClock(NOON + timedelta(minutes=30))
    if ended == "told":
        await store.inbox.accept(moved(HERE, NOON + timedelta(minutes=20)))
    else:
        clock.move(hours=1)
    known = await places(store, clock)
    assert await known.forget() == (1, 0)
    clock.move(KEPT - timedelta(hours=1))
    await prune(store.database, clock)
    # What the provider had held back, as a network that was away does.
    await store.inbox.accept(moved(live(THERE, until), NOON + timedelta(minutes=59)))
    assert await known.seen() == []
    assert await store.column("select latitude from seen_places") == [None]
    clock.move(hours=3)
    await prune(store.database, clock)
    assert await store.one("select count(*) from seen_places") == 0
    await store.inbox.accept(moved(live(THERE, until), NOON + timedelta(minutes=59)))
    assert await known.seen() == [], "it is older than what is shown"


class Dying:
    """A notifier in a worker that is killed after its first notification was stored."""

    def __init__(self) -> None:
        self.stored: dict[str | None, Notification] = {}
        self.calls = 0

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        self.calls += 1
        known = notification.dedupe_key in self.stored
        self.stored.setdefault(notification.dedupe_key, notification)
        if self.calls == 1:
            raise KeyboardInterrupt
        return Notified("n", NotificationStatus.DUPLICATE if known else NotificationStatus.QUEUED)


async def test_promise_7_an_offer_after_a_kill_is_still_a_single_one(store: Store) -> None:
    await store.inbox.accept(sent(SentPlace(40.712776, -74.005974)))
    await store.admin.execute("update tenants set timezone = 'Europe/Berlin', language = 'de'")
    notifier = Dying()
    with pytest.raises(KeyboardInterrupt):
        await offer_zones(store.database, StandingClock(), notifier)
    await store.end_pauses()
    for _ in range(2):
        await offer_zones(store.database, StandingClock(), notifier)
    assert (notifier.calls, len(notifier.stored)) == (2, 1)
    [offer] = notifier.stored.values()
    assert "prefs timezone America/New_York" in offer.text
    assert "Zeitzone" in offer.text


@pytest.mark.parametrize(("own", "offers"), [("Europe/Berlin", 0), ("Europe/Paris", 0), ("Europe/London", 1), ("", 1)])
async def test_a_zone_is_offered_only_if_its_clock_is_another(store: Store, own: str, offers: int) -> None:
    await store.inbox.accept(sent(HERE))
    await store.admin.execute("update tenants set timezone = $1", own)
    notifier = Dying()
    notifier.calls = 1
    await offer_zones(store.database, StandingClock(), notifier)
    assert len(notifier.stored) == offers


async def test_a_place_is_saved_found_again_and_undone(store: Store) -> None:
    await store.inbox.accept(sent(HERE))
    first = await context_of(store)
    assert "Saved as “The Office”" in await tools.save_place("The Office", first)
    assert (await tools.where_am_i(await context_of(store)))["saved_places_there"] == ["The Office"]
    await store.inbox.accept(sent(THERE, "2", at=NOON + timedelta(minutes=1)))
    second = await context_of(store, key="second")
    await tools.save_place("office", second)
    known = await places(store)
    assert [(place.name, place.latitude) for place in await known.saved()] == [("office", THERE.latitude)]
    assert "where it was" in await tools.take_back_place(context=second, **second.undo.offered[-1].arguments)  # type: ignore[arg-type]
    assert [place.latitude for place in await known.saved()] == [HERE.latitude]
    third = await context_of(store, key="third")
    await tools.delete_place("my office", third)
    assert await known.saved() == []
    await tools.take_back_place(context=third, **third.undo.offered[-1].arguments)  # type: ignore[arg-type]
    assert [place.name for place in await known.saved()] == ["The Office"]
    with pytest.raises(ToolRetry, match="no place named “gym”"):
        await tools.at_place("gym", third)


async def test_a_city_in_words_becomes_coordinates(store: Store) -> None:
    await store.say("hello")
    async with open_meteo() as service:
        http = GuardedClient(allowed_hosts=[URL(service.url).authority])
        context = replace(await context_of(store), http=http, settings={"weather_url": service.url})
        for _ in range(2):
            assert await tools.note_city("Berlin", context) == "Noted for at most 24 hours: you are in Berlin, Germany."
        with pytest.raises(ToolRetry, match="Atlantis"):
            await tools.note_city("Atlantis", context)
        await http.close()
    here = await context.place.here()
    assert (here.latitude, here.longitude, here.accuracy, here.live) == (52.5, 13.4, 10_000.0, False)
    assert await store.one("select count(*) from seen_places") == 1
    with pytest.raises(ToolRetry, match="too roughly"):
        await tools.save_place("office", context)


async def test_a_place_that_is_old_rough_or_unknown_is_not_saved(store: Store) -> None:
    await store.say("hello")
    with pytest.raises(ToolRetry, match="I do not know where you are"):
        await tools.save_place("office", await context_of(store))
    await store.inbox.accept(sent(replace(HERE, accuracy=9000.0)))
    with pytest.raises(ToolRetry, match="too roughly"):
        await tools.save_place("office", await context_of(store))
    with pytest.raises(ToolRetry, match="too old"):
        await tools.save_place("office", await context_of(store, StandingClock(NOON + timedelta(hours=1))))
    with pytest.raises(ToolRetry, match="1 to 60 letters"):
        await tools.save_place("x" * 61, await context_of(store))
    with pytest.raises(ToolFailed, match="Not told to a task"):
        await tools.where_am_i(replace(await context_of(store), in_task=True))


async def test_the_context_has_the_service_as_any_other(store: Store) -> None:
    await store.inbox.accept(sent(HERE))
    context = await context_of(store)
    here = await context.place.here()
    assert isinstance(here, KnownPlace)
    assert here.age(NOON + timedelta(minutes=4)) == timedelta(minutes=4)
    with pytest.raises(ToolFailed, match="does not learn where people are"):
        await a_context().place.here()
    assert context.service(PlaceAccess) is not None


def test_distances_and_roughness_decide_whether_somebody_is_there() -> None:
    assert round(metres_between(52.520008, 13.404954, 48.85837, 2.29448) / 1000) == 881
    office = SavedPlace("office", 52.520008, 13.404954, 150)
    where = KnownPlace(52.520908, 13.404954, None, NOON)
    assert office.is_at(where) is True
    assert office.is_at(replace(where, accuracy=1000.0)) is None
    assert office.is_at(replace(where, latitude=52.6, accuracy=1000.0)) is False
    assert [key_of(name) for name in ("The  Office", "mein Büro", "the")] == ["office", "büro", "the"]


def test_zones_are_found_without_a_network() -> None:
    assert [zone_at(*at) for at in ((52.52, 13.4), (40.7128, -74.006), (0.0, -30.0))] == [
        "Europe/Berlin",
        "America/New_York",
        "",
    ]
    now = datetime(2026, 11, 21, tzinfo=UTC)
    assert not differ("Europe/Berlin", "Europe/Vienna", now)
    assert differ("America/Phoenix", "America/Denver", now), "not now, but in summer"


async def test_a_place_that_cannot_be_looked_at_holds_up_nobody_elses(store: Store) -> None:
    for number in range(60):
        await store.say("hello", sender=f"+1555{number:07}")
    people = [str(one) for one in await store.column("select tenant_id from tenants order by tenant_id")]
    for one in people:
        await store.admin.execute(
            "insert into seen_places (tenant_id, id, how, latitude, longitude, at)"
            " values ($1, 'p', 'sent', 40.7, -74, $2)",
            one,
            NOON,
        )
    told: list[str] = []

    class Failing:
        async def notify(self, tenant_id: str, _: Notification) -> Notified:
            told.append(tenant_id)
            if tenant_id != people[-1]:
                raise RuntimeError("nobody foresaw this")
            return Notified("n", NotificationStatus.QUEUED)

    for _ in range(3):
        await offer_zones(store.database, StandingClock(), Failing())
    assert sorted(told) == people
    looked = "select tenant_id from seen_places where looked_at is not null"
    assert await store.column(looked) == [people[-1]]
    assert 0 < float(str(await store.one("select wait from what_is_due(now()) where work = 'places'"))) <= 10
