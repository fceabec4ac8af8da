"""T1, T10, T11: processes that are killed, that a message kills, and that are replaced."""

import asyncio

from tests.faults.database import read_value
from tests.faults.harness import Harness
from tests.faults.phone_driver import Saying
from tests.faults.results import Result, arrive, conclude, deliver, recoveries, show_recoveries, timed
from tests.faults.script import POISON, SLOW
from tests.faults.strikes import kill_one_that_worked, roll

_TAKEN_UP_AGAIN = """
select count(distinct t.id) from turns t join inbound i on i.tenant_id = t.tenant_id and i.turn_id = t.id
where t.attempts > 1 and split_part(i.text, ' ', 1) = any($1)
"""


async def kill_loop(harness: Harness, *, kills: int, messages: int, every: float) -> Result:
    """T1: SIGKILL of a web or worker process at random, again and again, each only after it has done work."""
    result = Result(
        "T1", "SIGKILL of web and worker processes that have done work", "lost 0, out of order 0, doubled 0"
    )
    # People write for as long as it takes: only what has worked is killed, and its end and start take a moment too.
    sayings = harness.say(messages, seconds=kills * (every + 0.5), copies=2)
    async with timed(result):
        writing = asyncio.create_task(harness.written(harness.people_write(sayings)))
        struck = 0
        idle = 0
        while struck < kills and idle < 60:
            await asyncio.sleep(every * (0.5 + harness.chance.random()))
            killed = await kill_one_that_worked(harness)
            struck, idle = struck + killed, 0 if killed or not writing.done() else idle + 1
        await writing
        # A sweep of what was missed takes longer than a worker lives among kills.
        await arrive(harness, sayings, result)
        evidence = await conclude(harness, sayings, result)
    result.numbers["kills"] = str(struck)
    result.numbers["work again after a kill"] = show_recoveries(recoveries(harness, evidence, frozenset({"kill"}))[0])
    result.require(struck == kills, f"only {struck} of {kills} kills were struck")
    return result


async def poison(harness: Harness, *, messages: int, slow_seconds: float, seconds: float) -> Result:
    """T10: a text that kills its worker, and a model that takes long, in the middle of others' talk of `seconds`."""
    result = Result("T10", "texts that kill their worker, and a slow model", "set aside and told; the others go on")
    bodies = [POISON] * messages + [f"{SLOW} {slow_seconds}"]
    people = harness.people[: messages + 1]
    bad = [_saying(harness, person.key, 0.0, body) for person, body in zip(people, bodies, strict=True)]
    # Those who wrote such a text write nothing else: it would be taken in by the same turn, and share its fate.
    busy = {person.key for person in people}
    others = [saying for saying in harness.say(messages * 10, seconds=seconds) if saying.person not in busy]
    async with timed(result):
        await deliver(harness, [*bad, *others], result)
        after = [_saying(harness, person.key, 0.0, "") for person in people]
        await deliver(harness, after, result)
        evidence = await conclude(harness, [*after, *others], result)
    aside = [row for row in evidence.inbound if row["turn_state"] == "poison"]
    poisoned = {saying.token for saying in bad[:-1]}
    notices = [row for row in evidence.outbound if "set it aside" in row["text"] and row["state"] == "sent"]
    innocent = [row["token"] for row in aside if row["token"] not in poisoned]
    result.numbers |= {
        "texts": str(len(bad) + len(after) + len(others)),
        "poisonous": str(len(poisoned)),
        "set aside": str(len(aside)),
        "told": str(len(notices)),
        "deaths": str(sum(worker.log.read_text().count("worker_killed") for worker in harness.workers)),
        "innocent set aside": str(len(innocent)),
        "slow answer": f"{slow_seconds:g} s",
    }
    slow = {token for send in evidence.sends if send.accepted for token in send.tokens} & {bad[-1].token}
    result.require(bool(slow), "the slow text was not answered")
    result.require(poisoned <= {row["token"] for row in aside}, "a poisonous text was not set aside")
    result.require(len(notices) >= len(poisoned), "somebody was not told that their text was set aside")
    result.require(not innocent, f"{len(innocent)} innocent texts were set aside: {innocent[:3]}")
    return result


async def deploys(harness: Harness, *, times: int, messages: int) -> Result:
    """T11: rolling deploys under load."""
    result = Result("T11", "rolling SIGTERM of every process under load", "lost 0, no attempt burnt")
    sayings = harness.say(messages, seconds=times * 3.0)
    async with timed(result):
        writing = asyncio.create_task(deliver(harness, sayings, result))
        for _ in range(times):
            await asyncio.sleep(0.3)
            await roll(harness)
        await writing
        await conclude(harness, sayings, result)
        burnt = await _attempts(harness, sayings)
    result.numbers |= {"deploys": str(times), "turns with more than one attempt": str(burnt)}
    result.require(burnt == 0, f"{burnt} turns burnt an attempt")
    return result


def _saying(harness: Harness, person: str, at: float, body: str) -> Saying:
    token = harness.token(person)
    return Saying(at=at, token=token, person=person, channel="sms", body=f"{token} {body}".strip())


async def _attempts(harness: Harness, sayings: list[Saying]) -> int:
    return int(await read_value(harness, _TAKEN_UP_AGAIN, [saying.token for saying in sayings]))
