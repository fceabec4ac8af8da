"""T2 with people's accounts: a process is killed at each point, another one goes on, and the end is judged."""

import asyncio
import base64
from collections.abc import Sequence
from contextlib import suppress

from tests.faults.accounts.asking import number_of
from tests.faults.accounts.browser import ConnectingBrowser
from tests.faults.accounts.house import BINARY, House, calendar_file, letter, new_mail, open_house
from tests.faults.accounts.outcomes import letter_from, outcome
from tests.faults.accounts.points import APPROVED, UNDONE, AccountMutation, AccountPoint, Kind
from tests.faults.database import execute, pending_code, until_true
from tests.faults.decisions import shown_cards
from tests.faults.harness import Harness, set_up_channels
from tests.faults.journals import append
from tests.faults.leases import HOLD, RELEASE
from tests.faults.meeting import MET_WITHIN, has_met, until_met
from tests.faults.results import QUIET_WITHIN, Result, settle
from tests.faults.sends import sends
from tests.faults.strikes import flush_redis
from tests.faults.worded import Struck
from tests.faults.worded_plans import WordedFate, WordedPlan, count_noticed, count_well, make_plans, require_worded
from workbench.simulator.config import Person

type AccountPlan = WordedPlan[Kind]

HANGS = 2.0
_FIRST = APPROVED | UNDONE.keys() | {Kind.WATCH, Kind.CONNECT}
"""What is asked for, or waits, before a process is to die of it."""
_POLLED = "select poll_offset from channel_state where channel = 'email'"
_END_POLL = "update channel_state set owner = null, lease_until = null"
_WATCHED = "select not exists (select from mail_watches where read_at is null)"
_GOES_ON = "select not exists (select from pool_entries where status = 'WAITING_FOR_ACCOUNT')"
_ROW = "select id from inbound where text like '%' || $1 || '%'"
_WATCH = """
update mail_watches set lease_until = null, next_attempt_at = clock_timestamp()
where tenant_id in (select tenant_id from identities where user_key = $1)
"""
_HOLD = "\n".join(
    (HOLD, "update mail_watches set lease_until = now() + '1 hour', next_attempt_at = now() + '1 hour';"),
)
_RELEASE = "\n".join(
    (
        RELEASE,
        "update mail_watches set lease_until = null, next_attempt_at = clock_timestamp();",
        "update credentials set refreshing_until = clock_timestamp() where refreshing_until is not null;",
    )
)


async def account_points(
    harness: Harness,
    result: Result,
    people: Sequence[Person],
    *,
    points: Sequence[AccountPoint],
    mutations: Sequence[AccountMutation],
) -> set[str]:
    """Strike every point, and each with its removed write, which must be noticed; return the tokens of the latter.

    Our processes have ended then. Nothing is struck where no mail server is installed, which is told.
    """
    if not BINARY.exists():
        result.untested.append("points of accounts: Dovecot is not installed")
        return set()
    plans = make_plans(harness, people, points, mutations)
    async with open_house(harness) as house:
        await _begin(house, plans)
        for plan in plans:
            await _strike(house, plan)
        await execute(harness, _RELEASE)
        for worker in harness.workers:
            worker.start(**house.settings)
        await settle(harness, result)
        # What waited for an account runs again from a beginning long past, while no worker is there.
        usual, harness.stuck_after = harness.stuck_after, 3600.0
        await _connect_late(house, plans)
        await settle(harness, result)
        harness.stuck_after = usual
        fates = [await _fate(house, plan) for plan in plans]
        await asyncio.gather(*(member.end() for member in harness.members))
    require_worded(result, fates)
    result.numbers |= {
        "points of accounts": count_well(fates),
        "removed writes of accounts noticed": count_noticed(fates),
    }
    return {plan.token for plan in plans if plan.drop}


async def _begin(house: House, plans: Sequence[AccountPlan]) -> None:
    """Let people connect their accounts, and ask for what needs consent; the process that asked them is killed."""
    harness, is_first = house.harness, not house.harness.has_begun
    if not is_first:
        await asyncio.gather(*(member.end() for member in harness.members))
    for web in harness.webs:
        web.start(**house.settings)
    await asyncio.gather(*(harness.until_ready(web) for web in harness.webs))
    if is_first:
        await set_up_channels(harness)
    await until_true(harness, _POLLED, within=MET_WITHIN)
    said = [plan for plan in plans if plan.kind in _FIRST]
    for plan in said:
        house.seed(plan.kind, plan.token)
        await _say(harness, plan)
        if plan.kind is not Kind.CONNECT:
            await house.connect(plan.kind, plan.person.key)
    worker = harness.workers[0]
    worker.start(**house.settings)
    await harness.until_kept({plan.token for plan in said}, MET_WITHIN)
    await harness.until_quiet(QUIET_WITHIN)
    await until_true(harness, _WATCHED, within=MET_WITHIN)
    await worker.kill_for_good()
    await execute(harness, _HOLD)


async def _strike(house: House, plan: AccountPlan) -> None:
    """Let a process meet the plan's point."""
    harness, web, worker = house.harness, house.harness.webs[0], house.harness.workers[0]
    struck = house.settings | plan.strike
    house.hold(HANGS if plan.point.name.endswith("within") else 0.0)
    if plan.point.struck is Struck.WEB:
        await web.end()
        if plan.kind is Kind.LETTER:
            house.dovecot.deliver(house.assistant, letter(letter_from(plan.token), plan.token))
        await execute(harness, _END_POLL)
        web.start(**struck)
        browser = None
        if plan.kind is Kind.CONNECT:
            await harness.until_ready(web)
            browser = await ConnectingBrowser.open(house, plan.person)
        await until_met(harness, plan.point.name, plan.name, web)
        await web.end()
        await execute(harness, _END_POLL)
        web.start(**house.settings)
        await harness.until_ready(web)
        if browser is not None:
            await browser.close()
        elif plan.drop != "receive_messages":
            await until_true(harness, _ROW, plan.token, within=MET_WITHIN)
    else:
        await _want(house, plan)
        worker.start(**struck)
        await until_met(harness, plan.point.name, plan.name, worker)
        await worker.kill_for_good()
    await execute(harness, _HOLD)


async def _want(house: House, plan: AccountPlan) -> None:
    """Let the person do what the process is to die of."""
    harness, kind = house.harness, plan.kind
    if kind in APPROVED:
        await harness.act(plan.person.key, "twilio", "say", text=f"OK {await _code(harness, plan)}", wait=True)
    elif kind in UNDONE:
        await harness.act(plan.person.key, "twilio", "say", text="undo", wait=True)
    elif kind is Kind.WATCH:
        house.dovecot.deliver(f"{plan.person.key}@example.org", new_mail(plan.person.key))
        await execute(harness, _WATCH, plan.person.phone)
    elif kind is Kind.ANSWER:
        house.dovecot.deliver(house.assistant, letter(letter_from(plan.token), plan.token))
        await until_true(harness, _ROW, plan.token, within=MET_WITHIN)
    else:
        house.seed(kind, plan.token)
        await _say(harness, plan)
        if kind is not Kind.HELD:
            await house.connect(kind, plan.person.key)


async def _code(harness: Harness, plan: AccountPlan) -> str:
    """Return the code of what the person is to approve."""
    if plan.kind is not Kind.MESSAGE:
        [card] = [card for card in shown_cards(harness) if card.token == plan.token]
        return card.code
    return await pending_code(harness, plan.person.phone)  # what others are to read may hold no token


async def _connect_late(house: House, plans: Sequence[AccountPlan]) -> None:
    """Kill all workers, let Redis lose all, and connect what was asked for; nobody is told but the database."""
    harness = house.harness
    await asyncio.gather(*(worker.kill_for_good() for worker in harness.workers))
    await flush_redis(harness)
    for plan in plans:
        if plan.kind in (Kind.HELD, Kind.STRICT):
            await house.connect(plan.kind, plan.person.key)
    await execute(harness, _RELEASE)
    for worker in harness.workers:
        worker.start(**house.settings)
    with suppress(AssertionError):
        await until_true(harness, _GOES_ON, within=MET_WITHIN)


async def _say(harness: Harness, plan: AccountPlan) -> None:
    named = (Kind.MESSAGE, Kind.CARD, Kind.UNDO_CARD, Kind.UNDO_CONTACT)
    whom = f" {number_of(plan.token)}" if plan.kind in named else ""
    words: dict[str, object] = {"text": f"{plan.body}{whom}", "wait": True}
    if plan.kind is Kind.IMPORT:
        data = base64.b64encode(calendar_file(plan.token).encode()).decode()
        words["media"] = [{"content_type": "text/calendar", "data": data, "name": "meetings.ics"}]
    await harness.act(plan.person.key, "twilio", "say", **words)
    append(harness.folder / "phones.jsonl", event="said", status=200, token=plan.token, person=plan.person.key)


async def _fate(house: House, plan: AccountPlan) -> WordedFate[Kind]:
    folder = house.harness.folder
    told = [send for send in sends(folder / "providers.jsonl") if send.accepted and send.peer == plan.person.phone]
    came = await outcome(house, plan.kind, plan.token, plan.person.phone, told)
    return WordedFate(plan, has_met(house.harness, plan.name), came)
