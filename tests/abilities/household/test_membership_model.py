"""Who is in which household, whatever people do in whatever order, against a model of it in Python."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from abilities.household.households import Households
from abilities.household.merge import HouseholdMerge
from abilities.household.roles import HouseholdRole
from abilities.household.types import Member, Outcome
from core.people.tenant_tables import tenant_tables
from tests.abilities.household.living import TIER
from tests.core.harness import Store
from tests.core.people.harness import Harness
from tests.examples import examples

ADULT, CHILD, OWNER = HouseholdRole.ADULT, HouseholdRole.CHILD, HouseholdRole.OWNER
_numbers = itertools.count(1)
_LOWEST = (CHILD, ADULT, OWNER)


@dataclass(slots=True)
class Code:
    """An invitation: into which household, by whom, as what; whom it was asked last."""

    text: str
    home: int
    by: int
    role: HouseholdRole
    used: bool = False
    asked: int | None = None


@dataclass(slots=True)
class Bond:
    """A link that may be undone: who went, and what of theirs came along."""

    gone: int
    home: int | None
    limits: set[int]
    earlier: list["Bond"]


@dataclass(slots=True)
class Model:
    """The households as lists of (person, role), in the order in which people came; children's limits; links."""

    homes: dict[int, dict[int, HouseholdRole]] = field(default_factory=dict)
    codes: list[Code] = field(default_factory=list)
    fresh: Iterator[int] = field(default_factory=itertools.count)
    limits: dict[int, dict[int, bool]] = field(default_factory=dict)
    """Whether each time that somebody was given limits is still in force."""
    bonds: dict[int, list[Bond]] = field(default_factory=dict)

    def of(self, person: int) -> int | None:
        return next((home for home, people in self.homes.items() if person in people), None)

    def role(self, person: int) -> HouseholdRole | None:
        home = self.of(person)
        return None if home is None else self.homes[home][person]

    def make(self, person: int) -> Outcome:
        if self.of(person) is not None:
            return Outcome.MEMBER
        self.homes[next(self.fresh)] = {person: OWNER}
        return Outcome.MADE

    def may_invite(self, person: int) -> Outcome:
        role = self.role(person)
        return Outcome.NONE if role is None else Outcome.CHILD if role is CHILD else Outcome.KEPT

    def join(self, person: int, code: Code, *, agreed: bool) -> Outcome:
        if code.used or code.home not in self.homes:
            return Outcome.USED if code.home in self.homes else Outcome.WRONG
        if self.homes[code.home].get(code.by, CHILD) is CHILD:
            return Outcome.EXPIRED
        if (mine := self.of(person)) is not None:
            return Outcome.INSIDE if mine == code.home else Outcome.MEMBER
        if not (agreed and code.asked == person):
            code.asked = person
            return Outcome.ASK
        code.used = True
        self.homes[code.home][person] = code.role
        if code.role is CHILD:
            self.limits.setdefault(person, {})[next(self.fresh)] = True
        return Outcome.JOINED

    def limited(self, person: int) -> bool:
        return any(self.limits.get(person, {}).values())

    def lift(self, *people: int) -> None:
        for person in people:
            self.limits[person] = dict.fromkeys(self.limits.get(person, {}), False)

    def leave(self, person: int) -> Outcome:
        home = self.of(person)
        if home is None:
            return Outcome.NONE
        if self.role(person) is not CHILD and self._adults(home) == 1:
            return Outcome.LAST
        self.drop(person)
        return Outcome.LEFT

    def change(self, person: int, other: int, role: HouseholdRole | None) -> Outcome:
        home = self.of(person)
        if home is None or self.role(person) is not OWNER:
            return Outcome.NONE if home is None else Outcome.NOT_OWNER
        if self.of(other) != home:
            return Outcome.UNKNOWN
        was = self.homes[home][other]
        if was is role:
            return Outcome.SAME
        if person == other or role not in (None, ADULT if was is CHILD else OWNER):
            return Outcome.REFUSED
        self.lift(other)
        if role is None:
            self.drop(other)
            return Outcome.REMOVED
        if role is OWNER:
            self.homes[home][person] = ADULT
        self.homes[home][other] = role
        return Outcome.CHANGED

    def end(self, person: int) -> Outcome:
        home = self.of(person)
        if home is None or self.role(person) is not OWNER:
            return Outcome.NONE if home is None else Outcome.NOT_OWNER
        self.lift(*self.homes.pop(home))
        return Outcome.ENDED

    def drop(self, person: int) -> None:
        """Take somebody out, as leaving, a deletion and a merge do."""
        home = self.of(person)
        if home is not None:
            del self.homes[home][person]
            self.codes = [code for code in self.codes if (code.home, code.by) != (home, person)]
            self._settle(home)

    def merge(self, kept: int, gone: int) -> bool:
        """Make one of two, unless a household would be left without an adult; return whether it is done."""
        mine, theirs = self.of(kept), self.of(gone)
        moved = theirs if mine is None else None
        if mine is not None and theirs is not None:
            after = dict(self.homes[theirs])
            role = after.pop(gone)
            if mine == theirs:
                after[kept] = min(after[kept], role, key=_LOWEST.index)
            if all(role is CHILD for role in after.values()):
                return False
            if mine == theirs:
                self.homes[mine] = after
                self._settle(mine)
            else:
                self.drop(gone)
        elif theirs is not None:
            people = self.homes[theirs]
            self.homes[theirs] = {kept if one == gone else one: role for one, role in people.items()}
        limits = self.limits.pop(gone, {})
        self.limits.setdefault(kept, {}).update(limits)
        self.bonds.setdefault(kept, []).append(Bond(gone, moved, set(limits), self.bonds.pop(gone, [])))
        return True

    def part(self, kept: int) -> int:
        """Undo a person's newest link; return who they part from."""
        bond = self.bonds[kept].pop()
        self.bonds[bond.gone] = bond.earlier
        home = self.of(kept)
        if bond.home is not None and home == bond.home:
            people = self.homes[home]
            self.homes[home] = {bond.gone if one == kept else one: role for one, role in people.items()}
        limits = self.limits.get(kept, {})
        self.limits[bond.gone] = {given: limits.pop(given) for given in bond.limits & set(limits)}
        return bond.gone

    def _adults(self, home: int) -> int:
        return sum(role is not CHILD for role in self.homes[home].values())

    def _settle(self, home: int) -> None:
        people = self.homes[home]
        if not self._adults(home):
            self.lift(*self.homes.pop(home))
        elif OWNER not in people.values():
            people[next(one for one, role in people.items() if role is ADULT)] = OWNER


PEOPLE = st.integers(0, 3)
ROLES = st.sampled_from([ADULT, CHILD])
DEEDS = st.one_of(
    st.tuples(st.just("make"), PEOPLE),
    st.tuples(st.just("bring"), PEOPLE, PEOPLE, ROLES),
    st.tuples(st.just("invite"), PEOPLE, ROLES),
    st.tuples(st.just("join"), PEOPLE, st.integers(0, 9), st.booleans()),
    st.tuples(st.just("leave"), PEOPLE),
    st.tuples(st.just("change"), PEOPLE, PEOPLE, st.sampled_from([ADULT, CHILD, OWNER, None])),
    st.tuples(st.just("end"), PEOPLE),
    st.tuples(st.just("merge"), PEOPLE, PEOPLE),
    st.tuples(st.just("part"), PEOPLE),
    st.tuples(st.just("delete"), PEOPLE),
)


@dataclass(slots=True)
class World:
    """The product beside the model; a person who is deleted or merged acts no more."""

    harness: Harness
    model: Model = field(default_factory=Model)
    numbers: list[str] = field(default_factory=list)
    tenants: dict[int, str] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)

    async def begin(self) -> None:
        """Let four people write."""
        for person in range(4):
            number = f"+1555{next(_numbers):07d}"
            self.numbers.append(number)
            await self.harness.ask("hello", number)
            self.tenants[person] = self.ids[person] = await self.harness.tenant(number)

    def by(self, person: int, key: str = "") -> Households:
        """Return what somebody may do, in a turn of its own."""
        database, clock = self.harness.store.database, self.harness.clock
        clock.move(timedelta(milliseconds=1))
        return Households(database, clock, self.tenants[person], key or f"turn {next(_numbers)}", TIER)

    async def do(self, deed: tuple[object, ...]) -> None:
        """Do a deed in both worlds, and repeat it as after a lost answer: both answer the same."""
        name, *given = deed
        if all(person in self.tenants for person in given[: 2 if name in ("bring", "change", "merge") else 1]):
            await getattr(self, f"_{name}")(*given)
            for lifted in await self.harness.store.database.rows("select * from claim_limits_to_lift(100)"):
                await self.harness.store.database.rows("select lift_limits($1)", lifted["tenant_id"])

    async def _make(self, person: int) -> None:
        expected, by = self.model.make(person), self.by(person)
        assert {(await by.make("Home")).outcome for _ in range(2)} == {expected}

    async def _invite(self, person: int, role: HouseholdRole) -> None:
        expected = self.model.may_invite(person)
        outcome, text = await self.by(person).invite(role)
        assert outcome is expected
        home = self.model.of(person)
        if outcome is Outcome.KEPT and home is not None:
            self.model.codes.append(Code(text, home, person, role))

    async def _join(self, person: int, which: int, agreed: bool) -> None:
        if not self.model.codes:
            return
        code = self.model.codes[which % len(self.model.codes)]
        expected, by = self.model.join(person, code, agreed=agreed), self.by(person)
        assert {(await by.join(code.text, agreed=agreed)).outcome for _ in range(2)} == {expected}
        await self.harness.store.db.guesses.delete()

    async def _bring(self, person: int, other: int, role: HouseholdRole) -> None:
        """Let somebody invite another, who agrees."""
        before = len(self.model.codes)
        await self._invite(person, role)
        if len(self.model.codes) > before:
            for agreed in (False, True):
                await self._join(other, before, agreed)

    async def _leave(self, person: int) -> None:
        expected, by = self.model.leave(person), self.by(person)
        assert {(await by.leave()).outcome for _ in range(2)} == {expected}

    async def _change(self, person: int, other: int, role: HouseholdRole | None) -> None:
        expected, by, member = self.model.change(person, other, role), self.by(person), Member(self.tenants[other])
        change: Callable[[], object] = lambda: by.change(member, role) if role else by.remove(member)  # noqa: E731
        assert {(await change()).outcome for _ in range(2)} == {expected}  # type: ignore[misc]

    async def _end(self, person: int) -> None:
        expected, by = self.model.end(person), self.by(person)
        assert {(await by.end(agreed=True)).outcome for _ in range(2)} == {expected}

    async def _merge(self, kept: int, gone: int) -> None:
        if kept == gone:
            return
        code = await self.harness.code(self.numbers[gone])
        await self.harness.settle()
        if not self.model.merge(kept, gone):
            assert "would be left without an adult" in await self.harness.link(code, self.numbers[kept])
            return
        assert (await self.harness.link(code, self.numbers[kept])).startswith("Linked")
        del self.tenants[gone]

    async def _part(self, kept: int) -> None:
        if not self.model.bonds.get(kept):
            return
        await self.harness.settle()
        assert (await self.harness.ask("UNLINK", self.numbers[kept])).startswith("Taken back")
        gone = self.model.part(kept)
        self.tenants[gone] = self.ids[gone]

    async def _delete(self, person: int) -> None:
        database, now = self.harness.store.database, self.harness.clock.now()
        tenant = self.tenants.pop(person)
        await database.rows("select ask_deletion($1,'person',$2,$2)", tenant, now)
        assert await database.rows("select delete_tenant($1,$2)", tenant, [*reversed(tenant_tables())])
        self.model.drop(person)
        self.model.limits.pop(person, None)
        self.model.bonds.pop(person, None)

    async def assert_same(self) -> None:
        """Compare who is in which household, and as what, and who has the limits of a child."""
        groups = set()
        for person in self.tenants:
            home = await self.by(person).read()
            names = {tenant: one for one, tenant in self.tenants.items()}
            seen = {(names[one.id], one.role) for one in home.people} if home else None
            mine = self.model.of(person)
            assert seen == (set(self.model.homes[mine].items()) if mine is not None else None)
            groups |= {home.id} if home else set()
            tier = await self.harness.store.db.tenants.one("tier", tenant_id=self.tenants[person])
            assert tier == (TIER.name if self.model.limited(person) else ""), person
        shared = await self.harness.store.column("select tenant_id from tenants where tenant_id like 'hh%'")
        assert set(shared) >= groups
        assert (
            await self.harness.store.one(
                "select count(*) from tenants t where tenant_id like 'hh%' and not exists (select from"
                " household_members m where m.household_id = t.tenant_id)"
            )
            == 0
        ), "a household without anybody"


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(role=ROLES, deeds=st.lists(DEEDS, min_size=2, max_size=12))
async def test_membership_is_as_in_the_model_whatever_people_do(
    store: Store, role: HouseholdRole, deeds: list[tuple[object, ...]]
) -> None:
    world = World(Harness(store, hooks=(HouseholdMerge(),)))
    await world.begin()
    # Three of them live together, so that most deeds change something.
    for deed in (("make", 0), ("bring", 0, 1, ADULT), ("bring", 0, 2, role), *deeds):
        await world.do(deed)
        await world.assert_same()
