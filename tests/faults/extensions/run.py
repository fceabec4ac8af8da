"""T21: a process is killed at each step of what plugins bring, and of what is asked; the end is judged."""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from tests.eventually import eventually
from tests.faults.database import execute, pending_code, read_value, until_true
from tests.faults.decisions import shown_cards
from tests.faults.extensions.outcomes import outcome
from tests.faults.extensions.plans import ExtensionFate, ExtensionPlan, judge
from tests.faults.extensions.points import WITH_WORKER, ExtensionMutation, ExtensionPoint, Kind
from tests.faults.extensions.stage import PROGRAMS, SENSORS, Stage, open_stage
from tests.faults.harness import Harness, set_up_channels
from tests.faults.journals import append, read
from tests.faults.leases import HOLD, RELEASE
from tests.faults.meeting import MET_WITHIN, has_met, until_met
from tests.faults.members import Member
from tests.faults.results import KEPT_WITHIN, QUIET_WITHIN, Result, conclude, settle, timed
from tests.faults.worded import Struck
from tests.faults.worded_plans import WordedFate, make_plans
from tests.plugins.extensions import STARTED

ANSWERS = "2 5"
"""The second pizza, and no word about the sauce."""
HOLDS = "send within, accepted"
_ANSWERED = (Kind.TYPED, Kind.FIELD)
_FIRST = (*_ANSWERED, *PROGRAMS, *SENSORS, Kind.PRESSED, Kind.CHOSEN, Kind.OWN_SKILL)
"""Whoever writes, is asked, or is known, before a process is to die of what they want."""
_ROWS = "select count(*) from inbound i where i.tenant_id = $1"
_NO_EVENTS = "select not exists (select from event_work where state = 'waiting')"
_HOLD = "\n".join(
    (
        HOLD,
        "update event_work set lease_until = clock_timestamp() + '1 hour',",
        "next_attempt_at = clock_timestamp() + '1 hour' where state = 'waiting';",
    )
)
_RELEASE = "\n".join(
    (
        RELEASE,
        "update event_work set lease_until = null, next_attempt_at = clock_timestamp()",
        "where state = 'waiting';",
    )
)


async def extension_points(
    harness: Harness, *, points: Sequence[ExtensionPoint], mutations: Sequence[ExtensionMutation]
) -> Result:
    """T21: every point, and each removed write, which must be noticed."""
    result = Result("T21", "processes die with plugins, skills, questions and programs", "each outcome as written down")
    plans = make_plans(harness, harness.people, points, mutations)
    async with timed(result), open_stage(harness, plans) as stage:
        await _begin(stage, plans)
        for plan in plans:
            await _strike(stage, plan)
        await _go_on(stage, plans, result)
        fates = [await _fate(stage, plan) for plan in plans]
        await asyncio.gather(*(member.end() for member in harness.members))
        judge(result, fates)
        harness.spoilt |= {plan.token for plan in plans if plan.drop}
        evidence = await conclude(harness, [], result)
        result.numbers["once effects of unknown end, told so"] = str(evidence.unknown_steps)
    return result


async def _begin(stage: Stage, plans: Sequence[ExtensionPlan]) -> None:
    """Let people become known, and ask for what they are then asked about; the process that asked them is killed."""
    harness, settings, is_first = stage.harness, stage.settings, not stage.harness.has_begun
    if not is_first:
        await asyncio.gather(*(member.end() for member in harness.members))
    [web], worker = harness.webs, harness.workers[0]
    web.start(**settings)
    await harness.until_ready(web)
    if is_first:
        await set_up_channels(harness)
    first = [plan for plan in plans if plan.kind in _FIRST]
    worker.start(**settings)
    for plan in first:
        await _say(stage, plan) if plan.kind in (*_ANSWERED, Kind.PRESSED, Kind.CHOSEN) else await _greet(stage, plan)
    for plan in first:
        await eventually(partial(_count, stage, plan), f"what {plan.name} begins with")
    await harness.until_quiet(QUIET_WITHIN)
    for plan in first:
        if plan.kind in PROGRAMS:
            await stage.let_in(plan)
        if plan.kind is Kind.CONSENT:
            await stage.programs[plan.name].ask()
        if plan.kind is Kind.OWN_SKILL:
            await stage.keep_skill(plan)
    await harness.until_quiet(QUIET_WITHIN)
    await worker.kill_for_good()
    await execute(harness, _HOLD)


async def _strike(stage: Stage, plan: ExtensionPlan) -> None:
    """Let a process meet the plan's point."""
    harness, worker, [web] = stage.harness, stage.harness.workers[0], stage.harness.webs
    struck = stage.settings | plan.strike
    match plan.point.struck:
        case Struck.SERVER:
            await stage.programs[plan.name].ask_over_pipes(harness.environment | struck)
        case Struck.WEB:
            await _strike_web(stage, plan, web, struck)
        case Struck.WORKER:
            if plan.kind is Kind.SOCKET:
                stage.apps[plan.person.key].holds = plan.point.name == HOLDS
            await _want(stage, plan)
            worker.start(**struck)
            if plan.kind is Kind.STOPPED:
                await _until_started(harness, plan)
                worker_process = worker.process
                assert worker_process is not None
                worker_process.send_signal(signal.SIGTERM)
            await until_met(harness, plan.point.name, plan.name, worker)
            await worker.kill_for_good()
            if plan.kind is Kind.SOCKET:
                stage.apps[plan.person.key].holds = False
    await execute(harness, _HOLD)


async def _strike_web(stage: Stage, plan: ExtensionPlan, web: Member, struck: dict[str, str]) -> None:
    harness, worker = stage.harness, stage.harness.workers[0]
    await web.end()
    web.start(**struck)
    await harness.until_ready(web)
    wanting = asyncio.create_task(_want(stage, plan, patient=False))
    if plan.point.name in WITH_WORKER:
        worker.start(**stage.settings)
    await until_met(harness, plan.point.name, plan.name, web)
    await web.end()
    if plan.point.name in WITH_WORKER:
        await worker.kill_for_good()
    web.start(**stage.settings)
    await harness.until_ready(web)
    await wanting
    if plan.drop != "receive_choice":
        # What is brought again is not to meet the next plan's point.
        await _until_kept(stage, plan)


async def _want(stage: Stage, plan: ExtensionPlan, *, patient: bool = True) -> None:
    """Do what the process is to die of, and wait until that is kept."""
    harness, person = stage.harness, plan.person.key
    match plan.kind:
        case Kind.PROGRAM | Kind.PIPES:
            await stage.programs[plan.name].ask()
            return
        case Kind.SENSOR | Kind.STOPPED:
            await stage.measure([plan])
            return
        case Kind.PRESSED:
            await stage.apps[person].say("press", press=stage.apps[person].button(0))
        case Kind.CHOSEN:
            first, second = [card for card in shown_cards(harness) if card.token == plan.token]
            for card, button in ((first, first.buttons[1]), (second, second.buttons[-1])):
                await harness.act(person, "telegram", "press", data=button, message_id=card.message_id)
        case Kind.TYPED:  # Telegram brings what was not acknowledged again; Twilio leaves it to the next sweep
            await harness.act(person, "telegram", "say", text=ANSWERS)
        case Kind.FIELD:
            await harness.act(person, "twilio", "say", text=ANSWERS)
        case Kind.CONSENT:
            await harness.act(person, "twilio", "say", text=f"OK {await pending_code(harness, plan.person.phone)}")
        case _:
            await _say(stage, plan)
    if patient and plan.kind is not Kind.ASKED:
        await _until_kept(stage, plan)


async def _until_kept(stage: Stage, plan: ExtensionPlan) -> None:
    """Wait until all that the person said is in the inbox; what never comes is missing in the end."""
    wanted = 1 + (plan.kind in _FIRST) + (plan.kind in (Kind.CHOSEN, Kind.CONSENT, Kind.ASKED))

    async def kept() -> bool:
        return await _count(stage, plan) >= wanted

    with suppress(AssertionError):
        await eventually(kept, within=KEPT_WITHIN)


async def _count(stage: Stage, plan: ExtensionPlan) -> int:
    return int(await read_value(stage.harness, _ROWS, await stage.tenant(plan)))


async def _until_started(harness: Harness, plan: ExtensionPlan) -> None:
    path = harness.folder / STARTED

    def started() -> bool:
        return path.exists() and plan.name in {line["name"] for line in read(path)}

    await eventually(started, f"the start of {plan.name}", within=MET_WITHIN)


async def _go_on(stage: Stage, plans: Sequence[ExtensionPlan], result: Result) -> None:
    """Let other processes go on, and people answer what they were asked."""
    harness, worker = stage.harness, stage.harness.workers[0]
    await stage.measure([plan for plan in plans if plan.kind in SENSORS])
    await execute(harness, _RELEASE)
    worker.start(**stage.settings)
    await settle(harness, result)
    with suppress(AssertionError):
        await until_true(harness, _NO_EVENTS, within=MET_WITHIN)
    await settle(harness, result)
    for plan in plans:
        if plan.kind is Kind.ASKED:
            await harness.act(plan.person.key, "twilio", "say", text=ANSWERS)
            await _until_kept(stage, plan)
    await settle(harness, result)
    for plan in plans:
        if plan.kind in PROGRAMS:
            with suppress(AssertionError):
                await stage.programs[plan.name].ask()


async def _say(stage: Stage, plan: ExtensionPlan) -> None:
    harness = stage.harness
    if plan.kind in (Kind.SOCKET, Kind.PRESSED):
        await stage.apps[plan.person.key].say("say", say=plan.body)
    elif plan.kind in (Kind.CHOSEN, Kind.TYPED):
        await harness.act(plan.person.key, "telegram", "say", text=plan.body)
    else:
        await harness.act(plan.person.key, "twilio", "say", text=plan.body)
    append(harness.folder / "phones.jsonl", event="said", status=200, token=plan.token, person=plan.person.key)


async def _greet(stage: Stage, plan: ExtensionPlan) -> None:
    """Let a person write something else, by which they are known."""
    await stage.harness.act(plan.person.key, "twilio", "say", text=stage.harness.token(plan.person.key))


async def _fate(stage: Stage, plan: ExtensionPlan) -> ExtensionFate:
    return WordedFate(plan, has_met(stage.harness, plan.name), await outcome(stage, plan))
