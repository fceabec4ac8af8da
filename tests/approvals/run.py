"""One run of races, and what it found."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import asyncpg

from tests.approvals.harness import RaceHarness
from tests.approvals.races import RACES, Grab, Open
from tests.eventually import eventually
from tests.patience import PATIENCE

_BATCH = 14
"""Approvals that one turn asks for."""
_OPEN = (
    "select a.id, a.tenant_id, a.code, a.token, (a.arguments->>'number')::int as number from approvals a"
    " where a.state = 'pending' and a.generation = $1 and a.expires_at is not null"
    " and ($1 > 1 or a.turn_id in (select id from turns where state = 'waiting'))"
)


@dataclass(slots=True)
class Found:
    """What came of the races; `wrong` must be empty."""

    races: int = 0
    kills: int = 0
    requests: int = 0
    ends: dict[str, Counter[str]] = field(default_factory=dict)
    executed: int = 0
    unknown: int = 0
    """Approved, and killed in the middle of it: whether it happened is not known, and it is not done again."""
    set_aside: int = 0
    """Approved, but its turn had killed too many workers by then: it is set aside, and the person is told."""
    deadly: int = 0
    """Workers that died in the middle of what was approved, right behind its effect."""
    wrong: list[str] = field(default_factory=list)


async def run_races(harness: RaceHarness, races: int, kills: int, seed: int = 0, deadly: int = 0) -> Found:
    """Run races of every kind in turn, kill workers in between, and check what is left.

    `deadly`: how many of the actions kill their worker right behind their effect.
    """
    chance = random.Random(seed)
    kinds = [list(RACES)[number % len(RACES)] for number in range(races)]
    chance.shuffle(kinds)
    findings = Found(races)
    for number in chance.sample(range(races), deadly):
        (harness.folder / f"deadly-{number}").touch()
    grab = Grab(harness.posts, chance, lambda approval: _expire(harness, approval))
    size = _BATCH * len(harness.people)
    rounds = range(0, races, size)
    for begun in rounds:
        numbers = range(begun, min(begun + size, races))
        opened = await _open(harness, numbers)
        killing = asyncio.create_task(_kill(harness, chance, kills // len(rounds) or (begun == 0 and kills), findings))
        await _race(harness, grab, [(kinds[approval.number], approval) for approval in opened])
        await killing
        await _settle(harness, grab, findings)
    findings.requests = len(harness.posts.statuses)
    await _check(harness, kinds, findings)
    return findings


async def _open(harness: RaceHarness, numbers: range) -> list[Open]:
    """Let people ask for what needs approval, and wait until every card was sent."""
    for at, first in enumerate(range(numbers.start, numbers.stop, _BATCH)):
        last = min(first + _BATCH, numbers.stop) - 1
        person = harness.people[at]
        await harness.simulator.providers["telegram"].act(person.key, "say", {"text": f"marks {first} {last}"})
    by_tenant = {harness.tenant(person): at for at, person in enumerate(harness.people)}

    async def all_open() -> "list[asyncpg.Record]":
        rows = await harness.admin.fetch(_OPEN, 1)
        return rows if len(rows) >= len(numbers) else []

    rows = await eventually(all_open, "all cards", within=2 * PATIENCE)
    people = harness.people
    return [
        Open(
            row["number"],
            row["id"],
            row["tenant_id"],
            row["code"],
            row["token"],
            people[by_tenant[row["tenant_id"]]],
            people[(by_tenant[row["tenant_id"]] + 1) % len(people)],
        )
        for row in rows
    ]


async def _race(harness: RaceHarness, grab: Grab, wanted: Sequence[tuple[str, Open]]) -> None:
    gate = asyncio.Semaphore(8)

    async def one(kind: str, opened: Open) -> None:
        async with gate:
            await RACES[kind][0](grab, opened)

    async with asyncio.TaskGroup() as group:
        for kind, opened in wanted:
            group.create_task(one(kind, opened))


async def _kill(harness: RaceHarness, chance: random.Random, times: int, findings: Found) -> None:
    for number in range(times):
        await asyncio.sleep(0.2 + chance.random() * 0.4)
        await harness.kill((findings.kills + number) % 2)
    findings.kills += times


async def _settle(harness: RaceHarness, grab: Grab, findings: Found) -> None:
    """Approve what was changed, on two devices at once, and wait until nothing is open any more."""
    seen: set[str] = set()
    people = {harness.tenant(person): person for person in harness.people}

    async def nothing_is_open() -> bool:
        for row in await harness.admin.fetch(_OPEN, 2):
            if row["id"] not in seen:
                seen.add(row["id"])
                person, data = people[row["tenant_id"]], f"approve.{row['token']}"
                await grab.at_once([harness.posts.tap(person, data), harness.posts.press(person, data)])
        left = await harness.admin.fetchval(
            "select (select count(*) from approvals where state = 'pending')"
            " + (select count(*) from turns where state in ('waiting', 'running'))"
        )
        for worker in harness.workers if left else ():
            if worker.process is not None and worker.process.returncode is not None:
                findings.deadly += 1
                await harness.replace(worker)
        return not left

    await eventually(nothing_is_open, "the end of all that is open", within=3 * PATIENCE)


async def _expire(harness: RaceHarness, approval: Open) -> None:
    """Let its time be over, sealed as if it had been so short from the beginning."""
    await harness.admin.execute(
        "update approvals set expires_at = past, hash = approval_hash(sealed_head, past, sealed_tail)"
        " from (select date_trunc('second', now()) - interval '1 second' as past) moment"
        " where id = $1 and state = 'pending'",
        approval.id,
    )


async def _check(harness: RaceHarness, kinds: Sequence[str], findings: Found) -> None:
    """Hold every approval against its race, its audit, its decider and what was done."""
    rows = await harness.admin.fetch(
        "select a.*, (a.arguments->>'number')::int as number, (select array_agg(u.what) from approval_audit u"
        " where u.approval_id = a.id and u.what in ('approved', 'cancelled', 'replaced', 'expired')) as decisions,"
        " (select i.tenant_id from identities i where i.id = a.decided_by) as decider,"
        " (select count(*) from steps s where s.turn_id = a.turn_id and s.outcome = 'unknown'"
        "  and s.step || '.' || s.call_index || '/' || s.name = a.place) as unknown,"
        " exists (select from turns t where t.id = a.turn_id and t.state = 'poison') as set_aside"
        " from approvals a order by number, generation"
    )
    done = Counter(harness.effects())
    approved = Counter((row["number"], str(row["arguments"])) for row in rows if row["state"] == "approved")
    findings.executed = sum(done.values())
    for row in rows:
        kind = kinds[row["number"]]
        if row["generation"] == 1:
            findings.ends.setdefault(kind, Counter())[row["state"]] += 1
        _check_one(row, kind, done, findings)
    for (number, word), times in done.items():
        if times > 1 or sum(count for (asked, _), count in approved.items() if asked == number) != 1:
            findings.wrong.append(f"mark {number} {word} made {times} times")
    if len({row["number"] for row in rows}) != findings.races:
        findings.wrong.append(f"{len(rows)} approvals for {findings.races} races")


def _check_one(row: "asyncpg.Record", kind: str, done: Counter[tuple[int, str]], findings: Found) -> None:
    wanted = RACES[kind][1] if row["generation"] == 1 else frozenset({"approved"})
    if row["state"] not in wanted or row["decisions"] != [row["state"]]:
        findings.wrong.append(f"{kind} {row['number']}: {row['state']}, decided {row['decisions']}")
    if row["state"] != "expired" and row["decider"] != row["tenant_id"]:
        findings.wrong.append(f"{kind} {row['number']}: decided by {row['decided_by']}")
    word = "asked" if row["generation"] == 1 else "changed"
    times = done[int(str(row["number"])), word]
    if row["state"] == "approved":
        findings.unknown += bool(row["unknown"])
        if not times and row["set_aside"]:
            findings.set_aside += 1
        elif not times and not row["unknown"]:
            findings.wrong.append(f"{kind} {row['number']}: approved, and never done")
    if row["state"] != "approved" and times:
        findings.wrong.append(f"{kind} {row['number']}: {row['state']}, and done")


def show(findings: Found) -> str:
    """Return the figures as lines."""
    lines = [
        f"{kind:<22} {', '.join(f'{state} {count}' for state, count in sorted(ends.items()))}"
        for kind, ends in sorted(findings.ends.items())
    ]
    killed = f"workers killed between {findings.kills}, inside {findings.deadly}"
    head = f"races {findings.races}, requests {findings.requests}, {killed}"
    after = f"unknown after a kill {findings.unknown}, set aside {findings.set_aside}"
    tail = f"executed {findings.executed}, {after}, wrong {len(findings.wrong)}"
    return "\n".join([head, *lines, tail, *findings.wrong[:20]])
