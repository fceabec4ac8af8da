"""T23: a process is killed at each step of a household and of two people's consent; the end is judged."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from abilities.household.children import CHILDREN, ChildTier
from abilities.household.households import Households
from abilities.household.roles import HouseholdRole
from core.clock import Clock
from core.db.database import Database
from tests.faults.database import execute, pending_code, read_text, read_value, until_true
from tests.faults.extensions.asking import plain
from tests.faults.harness import Harness, set_up_channels
from tests.faults.households.asking import home_of, kin_of
from tests.faults.households.outcomes import outcome, texts
from tests.faults.households.plans import HouseholdPlan, Pair, judge
from tests.faults.households.points import JOINT, HouseholdMutation, HouseholdPoint, Kind
from tests.faults.journals import append
from tests.faults.leases import HOLD, RELEASE
from tests.faults.meeting import MET_WITHIN, has_met, until_met
from tests.faults.results import QUIET_WITHIN, Result, conclude, settle, timed
from tests.faults.worded_plans import WordedFate, make_plans

SETTINGS = {
    "ONEVALET_PLUGINS": "tests.plugins.faults,abilities.joint.tools",
    "ONEVALET_TIERS": '{"child": {"tools": []}}',
}
_TIER = ChildTier(CHILDREN, ("member",))
_OWNED_BY_ACTOR = (Kind.INVITE, Kind.REMOVE, Kind.FREE, *JOINT)
_OUTSIDE = (Kind.INVITE, Kind.QUESTION, Kind.JOIN)
"""The other, or the actor, is not in the household when the process is struck."""
_PAUSES = """
update household_news set next_attempt_at = clock_timestamp();
update household_limits set next_attempt_at = clock_timestamp();
update joint_consents set next_attempt_at = clock_timestamp();
"""
_RELEASE = RELEASE + _PAUSES
_HOLD = HOLD + _PAUSES.replace("();", "() + '1 hour';")
_TENANT = "select tenant_id from identities where user_key = $1"
_ALL_TOLD = (
    "select not exists (select from household_news) and not exists (select from household_limits where state = 'lift')"
)
_WRITTEN = "select count(*) from inbound i join identities n on n.tenant_id = i.tenant_id where n.user_key = $1"
_ALL_ENDED = "select not exists (select from joint_consents where state <> 'ended')"
_DECIDED = "select not exists (select from approvals where tenant_id = $1 and state = 'pending')"


@dataclass(frozen=True, slots=True)
class Street:
    """All plans with their people, and the database as our processes see it."""

    harness: Harness
    database: Database
    pairs: Mapping[str, Pair]

    def of(self, plan: HouseholdPlan) -> Pair:
        return self.pairs[plan.name]

    def by(self, tenant_id: str, turn: str) -> Households:
        """Return what somebody does in a turn before any process is struck."""
        return Households(self.database, Clock(), tenant_id, turn, _TIER)


async def household_points(
    harness: Harness, *, points: Sequence[HouseholdPoint], mutations: Sequence[HouseholdMutation]
) -> Result:
    """T23: every point, and each removed write, which must be noticed."""
    result = Result("T23", "processes die with households and two consents", "each outcome as written down")
    plans = make_plans(harness, harness.people, points, mutations)
    async with timed(result), _open_street(harness, plans) as street:
        await _begin(street, plans)
        for plan in plans:
            await _strike(street, plan)
        await _go_on(street, plans, result)
        fates = [
            WordedFate(plan, has_met(harness, plan.name), await outcome(harness, plan, street.of(plan)))
            for plan in plans
        ]
        await asyncio.gather(*(member.end() for member in harness.members))
        judge(result, fates)
        harness.spoilt |= {name for plan in plans if plan.drop for name in (plan.token, plain(plan.token))}
        evidence = await conclude(harness, [], result)
        result.numbers["once effects of unknown end, told so"] = str(evidence.unknown_steps)
    return result


@asynccontextmanager
async def _open_street(harness: Harness, plans: Sequence[HouseholdPlan]) -> AsyncIterator[Street]:
    others = harness.people[len(plans) :]
    database = Database(harness.url)
    try:
        pairs = {plan.name: Pair(plan.person, other) for plan, other in zip(plans, others, strict=True)}
        yield Street(harness, database, pairs)
    finally:
        await database.close()


async def _begin(street: Street, plans: Sequence[HouseholdPlan]) -> None:
    """Let everybody become known, found their households, and ask each other; the process is killed."""
    harness, is_first = street.harness, not street.harness.has_begun
    if not is_first:
        await asyncio.gather(*(member.end() for member in harness.members))
    [web], worker = harness.webs, harness.workers[0]
    web.start(**SETTINGS)
    await harness.until_ready(web)
    if is_first:
        await set_up_channels(harness)
    worker.start(**SETTINGS)
    greetings: set[str] = set()
    for pair in street.pairs.values():
        for person in (pair.actor, pair.other):
            token = harness.token(person.key)
            await harness.act(person.key, "twilio", "say", text=token, wait=True)
            greetings.add(token)
    await harness.until_kept(greetings, MET_WITHIN)
    for plan in plans:
        await _found(street, plan)
    await until_true(harness, _ALL_TOLD, within=MET_WITHIN)
    for plan in plans:
        if plan.kind in JOINT and plan.kind is not Kind.ASK:
            await _ask(street, plan)
    for plan in plans:
        pair = street.of(plan)
        if plan.kind in JOINT and plan.kind is not Kind.ASK:
            await pending_code(harness, pair.other.phone)
        if plan.kind in (Kind.LAST, Kind.NO):
            await _decide(street, pair.actor.phone, pair.actor.key, "OK")
    await harness.until_quiet(QUIET_WITHIN)
    await worker.kill_for_good()
    for pair in street.pairs.values():
        pair.read = len(texts(harness, pair.actor.phone))
        pair.other_read = len(texts(harness, pair.other.phone))
    await execute(harness, _HOLD)


async def _found(street: Street, plan: HouseholdPlan) -> None:
    """Bring a plan's two people to where its deed begins."""
    harness, pair = street.harness, street.of(plan)
    pair.actor_id = await read_text(harness, _TENANT, pair.actor.phone)
    pair.other_id = await read_text(harness, _TENANT, pair.other.phone)
    await execute(harness, "update tenants set name = $2 where tenant_id = $1", pair.other_id, kin_of(plan.token))
    owner, guest = pair.actor_id, pair.other_id
    if plan.kind not in _OWNED_BY_ACTOR:
        owner, guest = guest, owner
    await street.by(owner, "found").make(home_of(plan.token))
    if plan.kind is Kind.INVITE:
        return
    role = HouseholdRole.CHILD if plan.kind is Kind.FREE else HouseholdRole.ADULT
    _, pair.code = await street.by(owner, "invite").invite(role)
    if plan.kind is not Kind.QUESTION:
        await street.by(guest, "ask").join(pair.code, agreed=False)
    if plan.kind not in _OUTSIDE:
        await street.by(guest, "join").join(pair.code, agreed=True)


async def _ask(street: Street, plan: HouseholdPlan) -> None:
    """Let the asker write what they want if the other agrees."""
    harness = street.harness
    await harness.act(plan.person.key, "twilio", "say", text=plan.body, wait=True)
    append(harness.folder / "phones.jsonl", event="said", status=200, token=plan.token, person=plan.person.key)


async def _decide(street: Street, phone: str, person: str, word: str) -> None:
    """Let somebody decide what waits for them; the decision is there at once."""
    harness = street.harness
    code = await pending_code(harness, phone)
    await harness.act(person, "twilio", "say", text=f"{word} {code}", wait=True)
    tenant = await read_text(harness, _TENANT, phone)
    await until_true(harness, _DECIDED, tenant, within=MET_WITHIN)


async def _strike(street: Street, plan: HouseholdPlan) -> None:
    """Let a worker meet the plan's point."""
    harness, pair, worker = street.harness, street.of(plan), street.harness.workers[0]
    words = {
        Kind.INVITE: "household invite",
        Kind.QUESTION: f"household join {pair.code}",
        Kind.JOIN: f"household join {pair.code} agree",
        Kind.LEAVE: "household leave",
        Kind.REMOVE: f"household remove {kin_of(plan.token)}",
        Kind.FREE: f"household make {kin_of(plan.token)} adult",
    }
    if plan.kind in words:
        await _write(street, pair.actor.key, words[plan.kind])
    elif plan.kind is Kind.ASK:
        await _ask(street, plan)
    else:
        await execute(
            harness,
            "update joint_consents set next_attempt_at = clock_timestamp() where tenant_id = $1",
            pair.actor_id,
        )
        await _decide(street, pair.other.phone, pair.other.key, "NO" if plan.kind is Kind.NO else "OK")
    worker.start(**SETTINGS | plan.strike)
    await until_met(harness, plan.point.name, plan.name, worker)
    await worker.kill_for_good()
    await execute(harness, _HOLD)


async def _write(street: Street, person: str, text: str) -> None:
    """Let somebody write, and wait until it is kept."""
    harness = street.harness
    phone = next(one.phone for one in harness.people if one.key == person)
    before = await read_value(harness, _WRITTEN, phone)
    await harness.act(person, "twilio", "say", text=text, wait=True)
    await until_true(harness, f"select ({_WRITTEN}) > $2", phone, before, within=MET_WITHIN)


async def _go_on(street: Street, plans: Sequence[HouseholdPlan], result: Result) -> None:
    """Let other processes go on, and people decide what is still open."""
    harness, worker = street.harness, street.harness.workers[0]
    await execute(harness, _RELEASE)
    worker.start(**SETTINGS)
    await settle(harness, result)
    for plan in plans:
        pair = street.of(plan)
        with suppress(AssertionError):
            if plan.kind is Kind.QUESTION:
                await _write(street, pair.actor.key, f"household join {pair.code} agree")
            if plan.kind is Kind.ASK:
                await _decide(street, pair.other.phone, pair.other.key, "OK")
            if plan.kind in (Kind.ASK, Kind.FIRST):
                await _decide(street, pair.actor.phone, pair.actor.key, "OK")
    await settle(harness, result)
    for done in (_ALL_TOLD, _ALL_ENDED):
        with suppress(AssertionError):
            await until_true(harness, done, within=MET_WITHIN)
    await settle(harness, result)
