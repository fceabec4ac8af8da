"""T2 with what people do besides writing: a process is killed at each point, another goes on, and the end is judged."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import aiohttp

from core.json_types import JsonObject, object_of
from tests.eventually import eventually
from tests.faults.database import execute, pending_code, until_true
from tests.faults.harness import PUBLIC_URL, Harness, set_up_channels
from tests.faults.journals import append, read
from tests.faults.leases import HOLD, RELEASE
from tests.faults.meeting import MET_WITHIN, has_met, until_met
from tests.faults.messages.asking import CHANGED, THEN
from tests.faults.messages.outcomes import keys_of, outcome
from tests.faults.messages.points import EDITED, THUMBS, Kind, MessageMutation, MessagePoint
from tests.faults.results import QUIET_WITHIN, Result, settle
from tests.faults.sends import sends
from tests.faults.worded import Struck
from tests.faults.worded_plans import WordedFate, WordedPlan, count_noticed, count_well, make_plans, require_worded
from tests.scripted_model import ModelCall, Reply
from workbench.simulator.config import Person

type MessagePlan = WordedPlan[Kind]

PLUGINS = ("tests.plugins.faults", "abilities.places.tools", "abilities.tasks.scheduling", "abilities.tasks.reminders")
SETTINGS = {"ONEVALET_PLUGINS": ",".join(PLUGINS)}
OFFICE = {"latitude": "52.520008", "longitude": "13.404954", "accuracy": "12"}
HOME = {"latitude": "52.486243", "longitude": "13.424637", "accuracy": "12"}
NEAR = {"latitude": "52.520408", "longitude": "13.404954", "accuracy": "12"}
_FIRST = frozenset({Kind.LATER, Kind.VOIDED, Kind.LIKED, Kind.ARRIVED, Kind.LINKED, *THUMBS})
"""What is answered, asked or known before a process is to die of what is done then."""
_PROVIDERS = {Kind.GONE: "slack", Kind.THUMB: "slack", Kind.TAPBACK: "twilio", Kind.LINKED: "twilio"}
_IDS = {"twilio": "sid", "slack": "ts", "telegram": "message_id"}
_LINK = re.compile(r"/place/[0-9a-f]{32}")
_KNOWN = """
select exists (select from inbound i join identities n on n.tenant_id = i.tenant_id where n.user_key = any ($1)
               and (i.reason in ('edited_before', 'deleted') or i.reason like 'reaction%'
                    or i.points @> '[{"whose": "changed"}]'))
"""
"""Whether the inbox knows what the person did besides writing."""
_NEAR = """
select exists (select from seen_places s join identities n on n.tenant_id = s.tenant_id
               where n.user_key = any ($1) and s.latitude > 52.5203)
"""
_LINKED = """
select exists (select from place_links l join identities n on n.tenant_id = l.tenant_id
               where n.user_key = any ($1) and l.used_at is not null)
"""
_WATCHED = """
select exists (select from tasks t join identities n on n.tenant_id = t.tenant_id where n.user_key = any ($1))
"""
_DUE = """
update tasks t set next_at = now(), due_at = now() from identities n
where n.tenant_id = t.tenant_id and n.user_key = any ($1)
"""
_HOLD = "\n".join((HOLD, "update tasks set next_at = now() + '1 hour' where kind = 'condition' and state = 'ACTIVE';"))


async def message_points(
    harness: Harness,
    result: Result,
    people: Sequence[Person],
    *,
    points: Sequence[MessagePoint],
    mutations: Sequence[MessageMutation],
) -> set[str]:
    """Strike every point, and each with its removed write, which must be noticed. Our processes have ended then.

    Return the tokens of removed writes and of texts that were changed, which are more than one row.
    """
    plans = make_plans(harness, people, points, mutations)
    ids = await _begin(harness, plans)
    for plan in plans:
        await _strike(harness, plan, ids)
    await execute(harness, RELEASE)
    for plan in plans:
        if plan.kind is Kind.ARRIVED:
            await execute(harness, _DUE, keys_of(plan.person))
    for worker in harness.workers:
        worker.start(**SETTINGS)
    for plan in plans:
        if plan.kind is Kind.TAPBACK:
            await _until_known(harness, plan)
    await settle(harness, result)
    for plan in plans:
        if plan.kind is Kind.ARRIVED and not plan.drop:
            await eventually(partial(_reminded, harness, plan), "the reminder", within=MET_WITHIN)
    await settle(harness, result)
    fates = [
        WordedFate(plan, has_met(harness, plan.name), await outcome(harness, plan.kind, plan.token, plan.person))
        for plan in plans
    ]
    await asyncio.gather(*(member.end() for member in harness.members))
    require_worded(result, fates)
    result.numbers |= {
        "points of messages": count_well(fates),
        "removed writes of messages noticed": count_noticed(fates),
    }
    return {plan.token for plan in plans if plan.drop or plan.kind in (*EDITED, Kind.GONE, Kind.ARRIVED)}


async def _begin(harness: Harness, plans: Sequence[MessagePlan]) -> dict[str, object]:
    """Let people write what is answered before; return the provider's id of each message that is theirs.

    The process that answered is killed.
    """
    is_first = not harness.has_begun
    if not is_first:
        await asyncio.gather(*(member.end() for member in harness.members))
    for web in harness.webs:
        web.start(**SETTINGS)
    await asyncio.gather(*(harness.until_ready(web) for web in harness.webs))
    if is_first:
        await set_up_channels(harness)
    worker = harness.workers[0]
    worker.start(**SETTINGS)
    first = [plan for plan in plans if plan.kind in _FIRST]
    ids = {plan.name: await _say(harness, plan) for plan in first}
    await harness.until_kept({plan.token for plan in first if plan.kind is not Kind.LINKED}, MET_WITHIN)
    await harness.until_quiet(QUIET_WITHIN)
    for plan in first:
        if plan.kind is Kind.ARRIVED:
            await _act(harness, plan, "move_location", **HOME)
            await _act(harness, plan, "say", text=f"{THEN} {plan.body} remind me when I am at the office")
    await harness.until_quiet(QUIET_WITHIN)
    for plan in first:
        if plan.kind is Kind.ARRIVED:
            code = await pending_code(harness, str(plan.person.telegram_user))
            await _act(harness, plan, "say", text=f"OK {code}")
            await until_true(harness, _WATCHED, keys_of(plan.person), within=MET_WITHIN)
    await harness.until_quiet(QUIET_WITHIN)
    await worker.kill_for_good()
    await execute(harness, _HOLD)
    return ids


async def _strike(harness: Harness, plan: MessagePlan, ids: dict[str, object]) -> None:
    """Let a process meet the plan's point."""
    [web, *_], worker = harness.webs, harness.workers[0]
    struck = SETTINGS | plan.strike
    if plan.name not in ids:
        ids[plan.name] = await _say(harness, plan)
        await harness.until_kept({plan.token}, MET_WITHIN)
    if plan.point.struck is Struck.WEB:
        await web.end()
        web.start(**struck)
        await harness.until_ready(web)
        await _do(harness, plan, ids[plan.name])
        await until_met(harness, plan.point.name, plan.name, web)
        await web.end()
        web.start(**SETTINGS)
        await harness.until_ready(web)
        if plan.kind is Kind.LINKED and not plan.drop:
            await _do(harness, plan, ids[plan.name])  # the page sends its form again
        if plan.kind is not Kind.TAPBACK:  # Twilio does not try again: a worker finds it in the end
            await _until_known(harness, plan)
    else:
        if plan.kind not in (Kind.CLAIMED, Kind.MEANWHILE):
            await _do(harness, plan, ids[plan.name])
            await _until_known(harness, plan)
        if plan.kind is Kind.ARRIVED:
            await execute(harness, _DUE, keys_of(plan.person))
        with _changed_meanwhile(harness, plan, ids[plan.name]) if plan.kind is Kind.MEANWHILE else nullcontext():
            worker.start(**struck)
            await until_met(harness, plan.point.name, plan.name, worker)
            await worker.kill_for_good()
    await execute(harness, _HOLD)


@contextmanager
def _changed_meanwhile(harness: Harness, plan: MessagePlan, id: object) -> Iterator[None]:
    """Let the person change their text while the model answers it."""
    script = harness.model.script
    assert callable(script)

    async def answer(call: ModelCall) -> Reply:
        reply = script(call)
        if plan.token in str(call.messages) and not call.tool_results and CHANGED not in str(call.messages):
            await _do(harness, plan, id)
            await _until_known(harness, plan)
        return reply if isinstance(reply, Reply) else await reply

    harness.model.script = answer
    yield
    harness.model.script = script


async def _do(harness: Harness, plan: MessagePlan, id: object) -> None:
    """Let the person do what the process is to die of."""
    named = {_IDS[_provider(plan)]: id}
    match plan.kind:
        case Kind.GONE:
            await _act(harness, plan, "delete", **named)
        case Kind.THUMB:
            await _act(harness, plan, "react", ts=await _ours(harness, plan), name="+1")
        case Kind.TAPBACK:
            await _act(harness, plan, "react", sid=await _ours(harness, plan), reaction="like")
        case Kind.REACTED | Kind.LIKED:
            await _act(harness, plan, "react", message_id=await _ours(harness, plan), emoji="👍")
        case Kind.ARRIVED:
            await _act(harness, plan, "move_location", **NEAR)
        case Kind.LINKED:
            await _tell_place(harness, plan)
        case _:
            await _act(harness, plan, "edit", **named, text=f"{plan.body} {CHANGED}")


async def _until_known(harness: Harness, plan: MessagePlan) -> None:
    """Wait until what the person did is received: its provider brings it again, and not to the next plan's point."""
    if plan.drop:
        return
    statement = {Kind.ARRIVED: _NEAR, Kind.LINKED: _LINKED}.get(plan.kind, _KNOWN)
    await until_true(harness, statement, keys_of(plan.person), within=MET_WITHIN)


async def _say(harness: Harness, plan: MessagePlan) -> object:
    """Let the person write; return their message's id at its provider."""
    body = plan.body
    match plan.kind:
        case Kind.LINKED:
            body = "where am I"
        case Kind.CLAIMED:
            body += ": email Sam about lunch"
        case Kind.ARRIVED:
            await _act(harness, plan, "location", **OFFICE, live=28_800)
            body += " this is the office"
    told = await _act(harness, plan, "say", text=body)
    if plan.kind is not Kind.LINKED:
        append(harness.folder / "phones.jsonl", event="said", status=200, token=plan.token, person=plan.person.key)
    return told[_IDS[_provider(plan)]]


async def _ours(harness: Harness, plan: MessagePlan) -> object:
    """Return the id at its provider of the newest message that the person has about their text."""
    calls = [
        call
        for call in read(harness.folder / "providers.jsonl")
        if call["direction"] == "out" and plan.token in str(call["request"]) and call["status"] in (200, 201)
    ]
    bodies = [object_of(object_of(call["answer"]).get("body")) for call in calls]
    ids = [body.get("sid") or body.get("ts") or object_of(body.get("result")).get("message_id") for body in bodies]
    return [id for id in ids if id][-1]


async def _tell_place(harness: Harness, plan: MessagePlan) -> None:
    """Let the person's phone send the form of its page; a process that dies of it answers nothing."""
    told = sends(harness.folder / "providers.jsonl")
    links = [link for send in told if send.peer == plan.person.phone for link in _LINK.findall(send.text)]
    form = {"latitude": OFFICE["latitude"], "longitude": OFFICE["longitude"], "accuracy": "35.5"}
    url = f"{harness.webs[0].url}{links[-1]}"
    try:
        async with aiohttp.ClientSession(headers={"Origin": PUBLIC_URL}) as phone, phone.post(url, data=form) as answer:
            await answer.read()
    except aiohttp.ClientError:
        return


def _reminded(harness: Harness, plan: MessagePlan) -> bool:
    told = sends(harness.folder / "providers.jsonl")
    return any(send.accepted and send.text.startswith(f"{plan.token} keys") for send in told)


def _provider(plan: MessagePlan) -> str:
    return _PROVIDERS.get(plan.kind, "telegram")


async def _act(harness: Harness, plan: MessagePlan, action: str, **wishes: Any) -> JsonObject:
    return await harness.act(plan.person.key, _provider(plan), action, **wishes)
