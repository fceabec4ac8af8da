"""T24: a process is killed at each step of a spoken or held answer, a follow-up and a group; the end is judged."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from tests.eventually import eventually
from tests.faults.abilities.outcomes import (
    AbilityPlan,
    group_texts,
    memory_of,
    outcome,
    outcome_in_group,
    texts,
)
from tests.faults.abilities.points import (
    OF_COST,
    OF_FOLLOWUPS,
    OF_GROUPS,
    OF_SPEECH,
    AbilityMutation,
    AbilityPoint,
    Kind,
)
from tests.faults.database import execute, read_value, until_true
from tests.faults.extensions.asking import plain
from tests.faults.harness import Harness, set_up_channels
from tests.faults.leases import HOLD, RELEASE
from tests.faults.meeting import MET_WITHIN, has_met, until_met
from tests.faults.results import QUIET_WITHIN, Result, conclude, settle, timed
from tests.faults.worded import Struck
from tests.faults.worded_plans import WordedFate, count_noticed, count_well, make_plans, require_worded
from workbench.simulator.config import Person

PLUGINS = ("tests.plugins.faults", "abilities.speech.tools", "abilities.followups.tools", "abilities.groups.tools")
SETTINGS = {
    "ONEVALET_PLUGINS": ",".join(PLUGINS),
    "ONEVALET_SMS_ASK_SEGMENTS": "4",
}
SPEAKING = {"ONEVALET_SPEECH_MODEL": "openai/tts-1"}
"""Only where answers are spoken: with a speech model, each worker loads a large library before it begins."""
_ABILITIES = {"speech": OF_SPEECH, "held answers": OF_COST, "follow-ups": OF_FOLLOWUPS, "groups": OF_GROUPS}
_FIRST = (Kind.SENT, Kind.SHORTENED, Kind.LAPSED)
"""The long answers that are held before a process is to die of the choice."""
_DECIDING = {Kind.KEPT: "followups yes", Kind.DECLINED: "followups no", Kind.FORGONE: "followups off"}
_CHOOSING = {Kind.SENT: "send", Kind.SHORTENED: "short"}
_LATER = """
update spoken_answers set lease_until = clock_timestamp() + '1 hour' where state = 'waiting';
update held_answers set until = clock_timestamp() + '1 hour' where way = '';
update memories m set held = true where happens_at is not null
and not exists (select from followups f where f.tenant_id = m.tenant_id and f.memory_id = m.id);
"""
_HOLD = HOLD + _LATER
_RELEASE = (
    RELEASE
    + """
update spoken_answers set lease_until = clock_timestamp() where state = 'waiting';
update memories set held = false where happens_at is not null;
update group_chats set next_attempt_at = clock_timestamp();
"""
)
_AHEAD = """
insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from, happens_at)
select tenant_id, $2, -1, $3, 'person', 'told', $2, now(), now(), now() + interval '9 days' from identities
where user_key = $1
"""
_DUE = """
update tasks x set next_at = now(), due_at = now() from identities n
where n.tenant_id = x.tenant_id and n.user_key = $1
"""
_LAPSES = """
update held_answers x set until = now() from identities n
where n.tenant_id = x.tenant_id and n.user_key = $1 and x.way = ''
"""
_ENDED = "select state in ('asked', 'over', 'declined') from followups where memory_id = $1"
_KEPT = "select state = 'kept' from followups where memory_id = $1"
_PROPOSED = "select state = 'proposed' from followups where memory_id = $1"
_HELD = """
select exists (select from held_answers h join identities n on n.tenant_id = h.tenant_id where n.user_key = $1)
"""
_WRITTEN = "select count(*) from inbound i join identities n on n.tenant_id = i.tenant_id where n.user_key = $1"
_SPOKEN = "select not exists (select from spoken_answers where state = 'waiting')"
_OWNS = """
update tenants t set role = case when n.user_key = $1 then 'owner' else 'member' end from identities n
where n.tenant_id = t.tenant_id and n.user_key = any ($2)
"""
_GROUP = "update group_chats set state = $1, owner_ok = $1 = 'on'"
_OF_DOOR = ("take_in_group", "ask_in_own_chat")
"""Without these writes nobody is shown a card."""
_SETTLED = {Kind.ALLOWED: "on", Kind.WANTED: "waiting"}
_CAME = "select exists (select from inbound i join group_chats g on g.tenant_id = i.tenant_id where i.text like $1)"
_CARD = """
select exists (select from approvals a join identities n on n.tenant_id = a.tenant_id where n.user_key = $1)
"""


async def ability_points(
    harness: Harness, *, points: Sequence[AbilityPoint], mutations: Sequence[AbilityMutation]
) -> Result:
    """T24: every point, and each removed write, which must be noticed."""
    result = Result(
        "T24", "processes die with voices, groups, held answers, follow-ups", "each outcome as written down"
    )
    plans = make_plans(harness, harness.people, points, mutations)
    here = [plan for plan in plans if plan.kind not in OF_GROUPS]
    owner = harness.people[len(plans)]
    async with timed(result):
        await _begin(harness, plans, owner)
        came = {plan.name: await _in_group(harness, plan, owner) for plan in plans if plan.kind in OF_GROUPS}
        told = await _prepare(harness, here)
        for plan in here:
            await _strike(harness, plan)
        await _go_on(harness, here, result)
        came |= {plan.name: await outcome(harness, plan, told[plan.name]) for plan in here}
        await asyncio.gather(*(member.end() for member in harness.members))
        _judge(result, [WordedFate(plan, has_met(harness, plan.name), came[plan.name]) for plan in plans])
        harness.spoilt |= {name for plan in plans if plan.drop for name in (plan.token, plain(plan.token))}
        await conclude(harness, [], result)
    return result


def _judge(result: Result, fates: Sequence[WordedFate[Kind]]) -> None:
    """Note what is not as expected, and how many are, of each ability and in all."""
    require_worded(result, fates)
    for name, kinds in _ABILITIES.items():
        if of_ability := [fate for fate in fates if fate.plan.kind in kinds and not fate.plan.drop]:
            result.numbers[f"points of {name}"] = count_well(of_ability)
    result.numbers |= {"points in all": count_well(fates), "removed writes noticed": count_noticed(fates)}


async def _begin(harness: Harness, plans: Sequence[AbilityPlan], owner: Person) -> None:
    """Let everybody become known who has to be, and the group be there; the process is killed."""
    is_first, [web], worker = not harness.has_begun, harness.webs, harness.workers[0]
    if not is_first:
        await asyncio.gather(*(member.end() for member in harness.members))
    web.start(**SETTINGS)
    await harness.until_ready(web)
    if is_first:
        await set_up_channels(harness)
    worker.start(**SETTINGS)
    of_groups = [plan.person for plan in plans if plan.kind in OF_GROUPS]
    greetings = [(plan.person, "twilio") for plan in plans if plan.kind in OF_FOLLOWUPS]
    greetings += [(person, "telegram") for person in (owner, *of_groups)]
    tokens = {person.key: harness.token(person.key) for person, _ in greetings}
    for person, provider in greetings:
        await harness.act(person.key, provider, "say", text=tokens[person.key])
    await harness.until_kept(set(tokens.values()), MET_WITHIN)
    await harness.until_quiet(QUIET_WITHIN)
    if of_groups:
        await execute(harness, _OWNS, str(owner.telegram_user), [str(owner.telegram_user)])
        await harness.act(owner.key, "telegram", "group_say", text="groups on", mention=True)
        await until_true(harness, "select state = 'on' from group_chats", within=MET_WITHIN)
        await harness.until_quiet(QUIET_WITHIN)
    await worker.kill_for_good()


async def _in_group(harness: Harness, plan: AbilityPlan, owner: Person) -> str:
    """Let a process meet the plan's point in the group, and another go on; return what became of it.

    There is one group, with one lane, so that nothing may be left open for the next plan.
    """
    [web], worker, telegram = harness.webs, harness.workers[0], str(plan.person.telegram_user)
    owning = telegram if plan.kind is Kind.ALLOWED else str(owner.telegram_user)
    await execute(harness, _OWNS, owning, [str(owner.telegram_user), telegram])
    await execute(harness, _GROUP, "on" if plan.kind is Kind.HANDED else "off")
    await harness.act(plan.person.key, "telegram", "group_set", admin=True)
    group, own = len(group_texts(harness)), len(texts(harness, telegram))
    of_owner = len(texts(harness, str(owner.telegram_user)))
    words = f"{plain(plan.token)} {plan.kind}" if plan.kind is Kind.HANDED else "groups on"
    if plan.point.struck is Struck.WEB:
        await web.end()
        web.start(**SETTINGS | plan.strike)
        await harness.until_ready(web)
    await harness.act(plan.person.key, "telegram", "group_say", text=words, mention=True)
    if plan.point.struck is Struck.WEB:
        await until_met(harness, plan.point.name, plan.name, web)
        await web.end()
        web.start(**SETTINGS)
        await harness.until_ready(web)
        await _until_taken(harness, plan)
    else:
        await _until_taken(harness, plan)
        worker.start(**SETTINGS | plan.strike)
        await until_met(harness, plan.point.name, plan.name, worker)
        # Who lost an answer goes on. Killed while it sends, it would send again: Telegram cannot be asked what came.
        await (worker.end() if plan.point.name.endswith("unknown") else worker.kill_for_good())
    await execute(harness, _RELEASE)
    worker.start(**SETTINGS)
    with suppress(AssertionError):
        if plan.drop not in _OF_DOOR:
            await _until_settled(harness, plan, telegram)
    if plan.kind is Kind.WANTED:
        with suppress(AssertionError):
            told = partial(texts, harness, str(owner.telegram_user))
            # Without its key the news comes twice: the second may be on its way when the first is there.
            most = of_owner + (2 if plan.drop else 1)
            await eventually(lambda: len(told()) >= most, within=MET_WITHIN)
    await harness.until_quiet(QUIET_WITHIN)
    came = await outcome_in_group(harness, plan, group, own, texts(harness, str(owner.telegram_user))[of_owner:])
    await worker.kill_for_good()
    return came


async def _until_taken(harness: Harness, plan: AbilityPlan) -> None:
    """Wait until the inbox has what was written in the group: its provider brings it again."""
    if plan.drop == "take_in_group":
        return
    if plan.kind is Kind.HANDED:
        await until_true(harness, _CAME, f"%{plain(plan.token)}%", within=MET_WITHIN)
    else:
        await until_true(harness, "select state <> 'off' from group_chats", within=MET_WITHIN)


async def _until_settled(harness: Harness, plan: AbilityPlan, telegram: str) -> None:
    if plan.kind is Kind.HANDED:
        await until_true(harness, _CARD, telegram, within=MET_WITHIN)
    else:
        await until_true(harness, "select state = $1 from group_chats", _SETTLED[plan.kind], within=MET_WITHIN)


async def _prepare(harness: Harness, plans: Sequence[AbilityPlan]) -> Mapping[str, int]:
    """Let long answers be held, and follow-ups be proposed and kept; the process is killed.

    Return how many texts each had by SMS.
    """
    worker = harness.workers[0]
    worker.start(**SETTINGS)
    for plan in plans:
        if plan.kind in _FIRST:
            await harness.act(plan.person.key, "twilio", "say", text=plan.body)
        if plan.kind in (*_DECIDING, Kind.ASKED):
            await _remember(harness, plan)
    for plan in plans:
        if plan.kind in _FIRST:
            await until_true(harness, _HELD, plan.person.phone, within=MET_WITHIN)
        if plan.kind in (*_DECIDING, Kind.ASKED):
            await until_true(harness, _PROPOSED, memory_of(plan), within=MET_WITHIN)
        if plan.kind in (Kind.FORGONE, Kind.ASKED):
            await _write(harness, plan, _DECIDING[Kind.KEPT])
            await until_true(harness, _KEPT, memory_of(plan), within=MET_WITHIN)
    await harness.until_quiet(QUIET_WITHIN)
    await worker.kill_for_good()
    await execute(harness, _HOLD)
    return {plan.name: len(texts(harness, plan.person.phone)) for plan in plans}


async def _strike(harness: Harness, plan: AbilityPlan) -> None:
    """Let a worker meet the plan's point."""
    worker, phone = harness.workers[0], plan.person.phone
    match plan.kind:
        case Kind.SPOKEN | Kind.HELD:
            provider = "slack" if plan.kind is Kind.SPOKEN else "twilio"
            await harness.act(plan.person.key, provider, "say", text=plan.body)
            await harness.until_kept({plan.token}, MET_WITHIN)
        case Kind.LAPSED:
            await execute(harness, _LAPSES, phone)
        case Kind.PROPOSED:
            await _remember(harness, plan)
        case Kind.ASKED:
            await execute(harness, _DUE, phone)
        case _:
            await _write(harness, plan, (_DECIDING | _CHOOSING)[plan.kind])
    worker.start(**SETTINGS | (SPEAKING if plan.kind is Kind.SPOKEN else {}) | plan.strike)
    await until_met(harness, plan.point.name, plan.name, worker)
    # Who lost an answer goes on. Killed at any later point, it would have what it spoke spoken again.
    goes_on = plan.kind is Kind.SPOKEN and plan.point.name.endswith("unknown")
    await (worker.end() if goes_on else worker.kill_for_good())
    await execute(harness, _HOLD)


async def _remember(harness: Harness, plan: AbilityPlan) -> None:
    """Let something be ahead of the person, as memory has it of what they said."""
    words = f"My exam {plain(plan.token)} is soon"
    await execute(harness, _AHEAD, plan.person.phone, memory_of(plan), words)


async def _write(harness: Harness, plan: AbilityPlan, text: str) -> None:
    """Let the person write by SMS, and wait until it is kept."""
    before = await read_value(harness, _WRITTEN, plan.person.phone)
    await harness.act(plan.person.key, "twilio", "say", text=text)
    await until_true(harness, f"select ({_WRITTEN}) > $2", plan.person.phone, before, within=MET_WITHIN)


async def _go_on(harness: Harness, plans: Sequence[AbilityPlan], result: Result) -> None:
    """Let another worker go on to the end."""
    await execute(harness, _RELEASE)
    for plan in plans:
        if plan.kind is Kind.LAPSED:
            await execute(harness, _LAPSES, plan.person.phone)
    harness.workers[0].start(**SETTINGS | (SPEAKING if any(plan.kind is Kind.SPOKEN for plan in plans) else {}))
    await settle(harness, result)
    ends = {Kind.PROPOSED: _PROPOSED, Kind.KEPT: _KEPT, Kind.DECLINED: _ENDED, Kind.FORGONE: _ENDED, Kind.ASKED: _ENDED}
    with suppress(AssertionError):
        for plan in plans:
            if plan.kind in ends and not plan.drop:
                await until_true(harness, ends[plan.kind], memory_of(plan), within=MET_WITHIN)
        await until_true(
            harness, "select not exists (select from held_answers where until <= now() and way = '')", within=MET_WITHIN
        )
        await until_true(harness, _SPOKEN, within=MET_WITHIN)
    await settle(harness, result)
