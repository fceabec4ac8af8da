"""T2 with people's accounts: a process is killed at each point, another one goes on, and the end is judged."""

import asyncio
import base64
import signal
from collections.abc import Sequence
from contextlib import suppress

from simulator.config import Person
from tests.faults.accounts.asking import number_of
from tests.faults.accounts.browser import ConnectingBrowser
from tests.faults.accounts.house import BINARY, House, calendar_file, letter, new_mail, open_house
from tests.faults.accounts.outcomes import letter_from, outcome
from tests.faults.accounts.plans import AccountFate, AccountPlan, judge, make_plans
from tests.faults.accounts.points import APPROVED, UNDONE, AccountMutation, AccountPoint, Kind
from tests.faults.decisions import shown_cards
from tests.faults.harness import Harness
from tests.faults.journals import append
from tests.faults.leases import HOLD, RELEASE
from tests.faults.meeting import until_met
from tests.faults.members import Member
from tests.faults.results import QUIET_WITHIN, Result, settle
from tests.faults.sends import sends
from tests.faults.strikes import flush_redis

HANGS = 2.0
MET_WITHIN = 90.0
_FIRST = APPROVED | UNDONE.keys() | {Kind.WATCH, Kind.CONNECT}
"""What is asked for, or waits, before a process is to die of it."""
_POLLED = "select poll_offset from channel_state where channel = 'email'"
_END_POLL = "update channel_state set owner = null, lease_until = null"
_WATCHED = "select not exists (select from mail_watches where read_at is null)"
_GOES_ON = "select not exists (select from pool_entries where status = 'WAITING_FOR_ACCOUNT')"
_CODE = """
select a.code from approvals a join identities i on i.tenant_id = a.tenant_id
where i.user_key = $1 and a.state = 'pending'
"""
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
        result.numbers["points of accounts"] = "untested: Dovecot is not installed here"
        return set()
    plans = make_plans(harness, people, points, mutations)
    async with open_house(harness) as house:
        await _begin(house, plans)
        for plan in plans:
            await _strike(house, plan)
        await _with(harness, _RELEASE)
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
    judge(result, fates)
    return {plan.token for plan in plans if plan.drop}


async def _begin(house: House, plans: Sequence[AccountPlan]) -> None:
    """Let people connect their accounts, and ask for what needs consent; the process that asked them is killed."""
    harness = house.harness
    await asyncio.gather(*(worker.end() for worker in harness.workers))
    for web in harness.webs:
        await web.end()
        web.start(**house.settings)
    await asyncio.gather(*(harness.until_ready(web) for web in harness.webs))
    await _until(harness, _POLLED)
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
    await _until(harness, _WATCHED)
    await _kill(worker)
    await _with(harness, _HOLD)


async def _strike(house: House, plan: AccountPlan) -> None:
    """Let a process meet the plan's point."""
    harness, web, worker = house.harness, house.harness.webs[0], house.harness.workers[0]
    struck = house.settings | {
        "FAULTS_POINT": plan.point.name,
        "FAULTS_NAME": plan.name,
        "FAULTS_DROP": plan.drop,
    }
    house.hold(HANGS if plan.point.name.endswith("within") else 0.0)
    if plan.point.process == "web":
        await web.end()
        if plan.kind is Kind.LETTER:
            house.dovecot.deliver(house.assistant, letter(letter_from(plan.token), plan.token))
        await _with(harness, _END_POLL)
        web.start(**struck)
        browser = None
        if plan.kind is Kind.CONNECT:
            await harness.until_ready(web)
            browser = await ConnectingBrowser.open(house, plan.person)
        await until_met(harness, plan.point.name, plan.name, web)
        await web.end()
        await _with(harness, _END_POLL)
        web.start(**house.settings)
        await harness.until_ready(web)
        if browser is not None:
            await browser.close()
        elif plan.drop != "receive_messages":
            await _until(harness, _ROW, plan.token)
    else:
        await _want(house, plan)
        worker.start(**struck)
        await until_met(harness, plan.point.name, plan.name, worker)
        await _kill(worker)
    await _with(harness, _HOLD)


async def _want(house: House, plan: AccountPlan) -> None:
    """Let the person do what the process is to die of."""
    harness, kind = house.harness, plan.kind
    if kind in APPROVED:
        await harness.act(plan.person.key, "twilio", "say", text=f"OK {await _code(harness, plan)}", wait=True)
    elif kind in UNDONE:
        await harness.act(plan.person.key, "twilio", "say", text="undo", wait=True)
    elif kind is Kind.WATCH:
        house.dovecot.deliver(f"{plan.person.key}@example.org", new_mail(plan.person.key))
        await _with(harness, _WATCH, plan.person.phone)
    elif kind is Kind.ANSWER:
        house.dovecot.deliver(house.assistant, letter(letter_from(plan.token), plan.token))
        await _until(harness, _ROW, plan.token)
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
    connection = await harness.connect()  # what others are to read may hold no token
    try:
        return str(await connection.fetchval(_CODE, plan.person.phone))
    finally:
        await connection.close()


async def _connect_late(house: House, plans: Sequence[AccountPlan]) -> None:
    """Kill all workers, let Redis lose all, and connect what was asked for; nobody is told but the database."""
    harness = house.harness
    await asyncio.gather(*(_kill(worker) for worker in harness.workers))
    await flush_redis(harness)
    for plan in plans:
        if plan.kind in (Kind.HELD, Kind.STRICT):
            await house.connect(plan.kind, plan.person.key)
    await _with(harness, _RELEASE)
    for worker in harness.workers:
        worker.start(**house.settings)
    with suppress(TimeoutError):
        await _until(harness, _GOES_ON)


async def _say(harness: Harness, plan: AccountPlan) -> None:
    named = (Kind.MESSAGE, Kind.CARD, Kind.UNDO_CARD, Kind.UNDO_CONTACT)
    whom = f" {number_of(plan.token)}" if plan.kind in named else ""
    words: dict[str, object] = {"text": f"{plan.token} {plan.kind}{whom}", "wait": True}
    if plan.kind is Kind.IMPORT:
        data = base64.b64encode(calendar_file(plan.token).encode()).decode()
        words["media"] = [{"content_type": "text/calendar", "data": data, "name": "meetings.ics"}]
    await harness.act(plan.person.key, "twilio", "say", **words)
    append(harness.folder / "phones.jsonl", event="said", status=200, token=plan.token, person=plan.person.key)


async def _fate(house: House, plan: AccountPlan) -> AccountFate:
    folder = house.harness.folder
    told = [send for send in sends(folder / "providers.jsonl") if send.accepted and send.peer == plan.person.phone]
    came = await outcome(house, plan.kind, plan.token, plan.person.phone, told)
    return AccountFate(plan, (folder / f"met-{plan.name}").exists(), came)


async def _kill(member: Member) -> None:
    assert member.process is not None
    member.process.send_signal(signal.SIGKILL)
    await member.process.wait()


async def _until(harness: Harness, statement: str, *arguments: str) -> None:
    """Wait until a statement returns something that is true."""
    connection = await harness.connect()
    try:
        async with asyncio.timeout(MET_WITHIN):
            while not await connection.fetchval(statement, *arguments):  # noqa: ASYNC110 - other processes work
                await asyncio.sleep(0.05)
    finally:
        await connection.close()


async def _with(harness: Harness, statement: str, *arguments: str) -> None:
    connection = await harness.connect()
    try:
        await connection.execute(statement, *arguments)
    finally:
        await connection.close()
