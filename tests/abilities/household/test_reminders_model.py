"""Reminders for others, whatever people do in whatever order and wherever a worker dies, against a model in Python."""

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from abilities.household.merge import HouseholdMerge
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.for_others import Permit, RemindersForOthers, settle_wishes
from abilities.tasks.merge import WishMerge
from abilities.tasks.reminders import TellExecutor
from core.db.database import Connection, Database
from core.people.tenant_tables import tenant_tables
from core.people.unlinking import WITHIN
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.abilities.household.test_membership_model import World
from tests.core.harness import Store
from tests.core.people.harness import Harness
from tests.examples import examples

_STRICT = ("allowed", "asked", "refused")
_numbers = itertools.count(1)
type Pair = tuple[int, int]
"""Who decides, and who wants."""


@dataclass(slots=True)
class Wish:
    """A reminder that `wants` wants for `other`: waiting, set, rung, over, or lost with a link that was undone."""

    wants: int
    other: int
    at: datetime
    state: str = "waiting"
    set_at: datetime | None = None


@dataclass(slots=True)
class Link:
    """A link that can be undone: who is no person of their own meanwhile, and what was theirs."""

    gone: int
    at: datetime
    permits: dict[Pair, str]
    copied: set[Pair]
    wishes: dict[str, Wish]


@dataclass(slots=True)
class Model:
    """What everybody wants and has decided. `links`: of each person, the newest last."""

    people: set[int] = field(default_factory=lambda: set(range(4)))
    permits: dict[Pair, str] = field(default_factory=dict)
    wishes: dict[str, Wish] = field(default_factory=dict)
    links: dict[int, list[Link]] = field(default_factory=dict)
    kept_links: dict[int, list[Link]] = field(default_factory=dict)

    def wish(self, key: str, wants: int, other: int, at: datetime) -> str:
        state = self.permits.setdefault((other, wants), "asked")
        if state != "refused":
            self.wishes[key] = Wish(wants, other, at)
        return state

    def decide(self, other: int, wants: int, state: str) -> None:
        self.permits[other, wants] = state
        for wish in self.wishes.values():
            if state == "refused" and (wish.other, wish.wants, wish.state) == (other, wants, "set"):
                wish.state = "over"

    def take_back(self, key: str) -> bool:
        wish = self.wishes.get(key)
        if wish is None or wish.state == "rung":
            return False
        wish.state = "over"
        return True

    def settle(self, now: datetime) -> None:
        for wish in self.wishes.values():
            state = self.permits.get((wish.other, wish.wants), "asked")
            if wish.state == "waiting" and (state != "asked" or wish.at <= now):
                wish.state, wish.set_at = ("set", now) if state == "allowed" and wish.at > now else ("over", None)

    def ring(self, now: datetime) -> None:
        for wish in self.wishes.values():
            if wish.state == "set" and wish.at <= now:
                wish.state = "rung"

    def merge(self, kept: int, gone: int, now: datetime) -> None:
        theirs = {pair: state for pair, state in self.permits.items() if gone in pair}
        copied = {pair for pair in theirs if kept in pair or _as(pair, gone, kept) in self.permits}
        wishes = {key: deepcopy(wish) for key, wish in self.wishes.items() if gone in (wish.other, wish.wants)}
        self.kept_links[gone] = self.links.pop(gone, [])
        self.links.setdefault(kept, []).append(Link(gone, now, theirs, copied, wishes))
        for wish in self.wishes.values():
            if {wish.other, wish.wants} == {kept, gone} and wish.state == "waiting":
                wish.state = "over"
            wish.other, wish.wants = _as((wish.other, wish.wants), gone, kept)
        for pair, state in theirs.items():
            del self.permits[pair]
            if kept not in pair:
                mine = _as(pair, gone, kept)
                self.permits[mine] = max(state, self.permits.get(mine, "allowed"), key=_STRICT.index)
        self.permits.pop((kept, gone), None)
        self.people.discard(gone)

    def part(self, kept: int, now: datetime) -> int | None:
        """Undo the newest link of somebody; return who is a person again."""
        if not self.links.get(kept) or self.links[kept][-1].at <= now - WITHIN:
            return None
        link = self.links[kept].pop()
        gone = link.gone
        self.people.add(gone)
        self.links[gone] = self.kept_links.pop(gone, [])
        for key, wish in self.wishes.items():
            was = link.wishes.get(key)
            if wish.other == kept and wish.set_at is not None and wish.set_at > link.at and wish.state == "set":
                wish.state = "lost"  # it is paused, as everything that was made while they were one
            if was is not None and was.other == gone and wish.other == kept:
                wish.other = gone
            if was is not None and was.wants == gone and wish.wants == kept:
                wish.wants = gone
        for pair, state in link.permits.items():
            mine = _as(pair, gone, kept)
            if pair not in link.copied and mine in self.permits:
                self.permits[pair] = self.permits.pop(mine)
            elif pair in link.copied and set(pair) <= self.people:
                self.permits.setdefault(pair, state)
        return gone

    def delete(self, person: int) -> None:
        self.people.discard(person)
        self.links.pop(person, None)
        self.permits = {pair: state for pair, state in self.permits.items() if person not in pair}
        self.wishes = {key: one for key, one in self.wishes.items() if person not in (one.wants, one.other)}


def _as(pair: Pair, one: int, another: int) -> Pair:
    """Return a pair with one person instead of another."""
    return (another if pair[0] == one else pair[0], another if pair[1] == one else pair[1])


class Died(BaseException):
    """What a worker does at a point."""


@contextmanager
def dying(database: Database, at: int) -> Iterator[None]:
    """Let whoever works die before or after a statement, counted from 0."""
    points, rows, tenant = itertools.count(), database.rows, database.tenant

    def point() -> None:
        if next(points) == at:
            raise Died

    async def counted_rows(statement: str, *args: object) -> object:
        point()
        found = await rows(statement, *args)
        point()
        return found

    @asynccontextmanager
    async def counted_tenant(tenant_id: str) -> AsyncIterator[Connection]:
        point()
        async with tenant(tenant_id) as connection:
            yield connection
        point()

    database.rows, database.tenant = counted_rows, counted_tenant  # type: ignore[method-assign,assignment]
    try:
        yield
    except Died:
        pass
    finally:
        del database.rows, database.tenant


PEOPLE, WHEN = st.integers(0, 3), st.integers(1, 6)
POINT = st.one_of(st.none(), st.integers(0, 12))
DEEDS = st.one_of(
    st.tuples(st.just("wish"), PEOPLE, PEOPLE, WHEN, POINT),
    st.tuples(st.just("decide"), PEOPLE, PEOPLE, st.sampled_from(["allowed", "refused"]), POINT),
    st.tuples(st.just("take_back"), st.integers(0, 9), POINT),
    st.tuples(st.just("work"), POINT),
    st.tuples(st.just("ring"), WHEN),
    st.tuples(st.just("merge"), PEOPLE, PEOPLE),
    st.tuples(st.just("part"), PEOPLE),
    st.tuples(st.just("delete"), PEOPLE),
)


@dataclass(slots=True)
class Reminding:
    """The product beside the model."""

    world: World
    engine: TriggerEngine
    model: Model = field(default_factory=Model)

    @property
    def store(self) -> Store:
        return self.world.harness.store

    @property
    def now(self) -> datetime:
        return self.world.harness.clock.now()

    def of(self, person: int) -> RemindersForOthers:
        return RemindersForOthers(self.engine, self.world.tenants[person])

    async def do(self, deed: tuple[object, ...]) -> None:
        """Do a deed in both worlds."""
        name, *given = deed
        self.world.harness.clock.move(timedelta(seconds=1))
        await getattr(self, f"_{name}")(*given)

    async def _wish(self, wants: int, other: int, hours: int, point: int | None) -> None:
        if wants == other or not {wants, other} <= self.model.people:
            return
        key, at = f"wish {next(_numbers)}", self.now + timedelta(hours=hours)
        expected, told = self.model.wish(key, wants, other, at), self.world.tenants[other]

        async def wish() -> str:
            return await self.of(wants).wish(told, key, f"Person {wants}", key, at)

        if point is not None:
            with dying(self.store.database, point):
                await wish()
        assert await wish() == expected

    async def _decide(self, other: int, wants: int, state: str, point: int | None) -> None:
        if (other, wants) not in self.model.permits:
            return
        self.model.decide(other, wants, state)
        permits, by = [Permit(self.world.tenants[wants], "")], self.of(other)
        if point is not None:
            with dying(self.store.database, point):
                await by.decide(permits, allowed=state == "allowed")
        await by.decide(permits, allowed=state == "allowed")

    async def _take_back(self, which: int, point: int | None) -> None:
        known = [key for key, one in self.model.wishes.items() if one.state != "lost"]
        if not known:
            return
        key = known[which % len(known)]
        wish = self.model.wishes[key]
        by, other = self.of(wish.wants), self.world.tenants[wish.other]
        if point is not None:
            with dying(self.store.database, point):
                await by.take_back(other, key)
        assert await by.take_back(other, key) == self.model.take_back(key)

    async def _work(self, point: int | None) -> None:
        self.model.settle(self.now)
        store = self.store
        notes = NotificationStore(store.database, store.make_id)
        notifier = NotificationService(notes, ["sms"], store.wakeups, self.world.harness.clock, store.make_id)
        if point is not None:
            with dying(store.database, point):
                await settle_wishes(self.engine, notifier)
            await store.admin.execute("update reminder_wishes set next_attempt_at = now()")
            await store.admin.execute("update reminder_permits set next_attempt_at = now()")
        await settle_wishes(self.engine, notifier)
        untold = "select count(*) from reminder_wishes where untold and tenant_id = any ($1)"
        assert await store.one(untold, [*self.world.tenants.values()]) == 0

    async def _ring(self, hours: int) -> None:
        self.world.harness.clock.move(timedelta(hours=hours))
        self.model.ring(self.now)
        await self.engine.fire_due()

    async def _merge(self, kept: int, gone: int) -> None:
        if kept == gone or not {kept, gone} <= self.model.people:
            return
        await self.world.harness.settle()
        code = await self.world.harness.code(self.world.numbers[gone])
        await self.world.harness.settle()
        assert (await self.world.harness.link(code, self.world.numbers[kept])).startswith("Linked")
        await self.world.harness.settle()
        self.model.merge(kept, gone, self.now)

    async def _part(self, kept: int) -> None:
        if kept not in self.model.people or self.model.part(kept, self.now) is None:
            return
        assert (await self.world.harness.ask("UNLINK", self.world.numbers[kept])).startswith("Taken back")

    async def _delete(self, person: int) -> None:
        # One remains, so that there is somebody to ask.
        if person not in self.model.people or len(self.model.people) == 1:
            return
        self.model.delete(person)
        tenant, database = self.world.tenants[person], self.store.database
        await database.rows("select ask_deletion($1,'person',$2,$2)", tenant, self.now)
        assert await database.rows("select delete_tenant($1,$2)", tenant, [*reversed(tenant_tables())])

    async def assert_same(self) -> None:
        """Compare who may, what waits, and what will ring."""
        ids = {tenant: person for person, tenant in self.world.tenants.items()}
        fetch = self.store.admin.fetch
        permits = await fetch(
            "select tenant_id, from_id, state from reminder_permits where tenant_id = any ($1)", [*ids]
        )
        assert {(ids[row["tenant_id"]], ids[row["from_id"]]): row["state"] for row in permits} == self.model.permits
        waiting = await fetch(
            "select tenant_id, from_id, id from reminder_wishes where state = 'waiting' and tenant_id = any ($1)",
            [*ids],
        )
        assert {(row["id"], ids[row["from_id"]], ids[row["tenant_id"]]) for row in waiting} == {
            (key, one.wants, one.other) for key, one in self.model.wishes.items() if one.state == "waiting"
        }
        tasks = await fetch(
            "select tenant_id, action ->> 'text' as key from tasks where state = 'ACTIVE' and tenant_id = any ($1)",
            [*ids],
        )
        assert {(row["key"], ids[row["tenant_id"]]) for row in tasks} == {
            (key, one.other) for key, one in self.model.wishes.items() if one.state == "set"
        }


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(deeds=st.lists(DEEDS, min_size=4, max_size=16))
async def test_reminders_for_others_are_as_in_the_model(store: Store, deeds: list[tuple[object, ...]]) -> None:
    world = World(Harness(store, hooks=(HouseholdMerge(), WishMerge())))
    await world.begin()
    clock = world.harness.clock
    engine = TriggerEngine(store.database, store.make_id, clock, store.wakeups, executors=[TellExecutor()])
    both = Reminding(world, engine)
    # Two want something of the third, who has let one of them.
    begun = (("wish", 0, 1, 3, None), ("decide", 1, 0, "allowed", None), ("work", None), ("wish", 2, 1, 5, None))
    for deed in (*begun, *deeds):
        await both.do(deed)
        await both.assert_same()
