"""T20: people divided over two Postgres behind PL/Proxy; one Postgres dies, and its half alone waits."""

import asyncio
import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import asyncpg

from tests.faults.checker import Finding
from tests.faults.partitions.halves import Halves, kill, running_halves
from tests.faults.results import Result, timed
from tests.forker import Forker
from tests.spine.checker import Findings, check, until_quiet
from tests.spine.driver import Answer, Driver
from tests.spine.texts import Text, make_people, make_texts
from workbench.simulator.config import TwilioConfig

DEAD, LIVING = 1, 0
NO_SLOWER = 2.0
"""How many times as long the living half's acknowledgements may take while the other is away, in the full size."""
PAUSE = 5.0
"""Seconds between two deliveries of what was not taken; providers wait longer."""
_QUIET_WITHIN = 120.0
_STEP = 0.5
# From the commit of a text to the provider's word that it has the answer, by the database's own clock.
_ANSWERED = """
select extract(epoch from min(d.finished_at) - i.received_at)::float8 as seconds from inbound i
join outbound o on o.tenant_id = i.tenant_id and o.turn_id = i.turn_id
join deliveries d on d.tenant_id = o.tenant_id and d.outbound_id = o.id
where i.text = any ($1) group by i.tenant_id, i.id, i.received_at
"""


@dataclass(slots=True)
class Round:
    """One death: what was written before it and while it lasted, and what the deliveries were answered."""

    before: list[Answer]
    meanwhile: list[Answer]
    texts: list[Text]
    fresh: list[Text]


async def partitions(
    folder: Path,
    forker: Forker,
    *,
    seed: int = 0,
    rounds: int = 3,
    messages: int = 100,
    seconds: float = 17.0,
    people: int = 50,
    bar: float | None = NO_SLOWER,
    pause: float = PAUSE,
) -> Result:
    """Run it: in each round `messages` are written in `seconds` while all is well, and as many without one partition.

    `bar`: how many times as long the living half may wait; None: that is told, and judges nothing. `pause`: seconds
    between two deliveries of what was not taken. Raises `ConfigError` without PL/Proxy.
    """
    result = Result(
        "T20",
        "one of two partitions behind a router killed while people of both write, and brought back, again and again",
        "lost 0, doubled 0, out of order 0; the other half notices nothing",
    )
    chance, everyone = random.Random(seed), make_people(people)
    async with running_halves(folder, everyone, forker) as halves, timed(result):
        half = await halves.half_of(everyone, TwilioConfig().number)
        driver = Driver(halves.system, TwilioConfig(), chance, pause=pause)
        written = make_texts(everyone, people, chance)
        await _write(driver, written, seconds / 3)  # whoever writes for the first time takes longer
        await _quiet(halves, (LIVING, DEAD))
        done: list[Round] = []
        for _ in range(rounds):
            texts = make_texts(everyone, 2 * messages, chance, first=len(written))
            done.append(await _round(halves, driver, texts, half, seconds))
            written += texts
        slower = await _tell(halves, result, half, done)
        result.require(bar is None or slower <= bar, f"the living half waited {slower:.2f} times as long")
        _judge(result, await check(halves.system, written, halves.urls), len(written))
    return result


async def _round(halves: Halves, driver: Driver, texts: list[Text], half: dict[str, int], seconds: float) -> Round:
    """Have half of the texts written while all is well, and the others around a death."""
    first, fresh = texts[: len(texts) // 2], texts[len(texts) // 2 :]
    driver.answers = []
    await _write(driver, first, seconds)
    await _quiet(halves, (LIVING, DEAD))
    before, driver.answers = driver.answers, []
    return Round(before, await _without_one(halves, driver, fresh, half, seconds), first, fresh)


async def _without_one(
    halves: Halves, driver: Driver, texts: list[Text], half: dict[str, int], seconds: float
) -> list[Answer]:
    """Kill a partition, let all write, bring it back when the others are done; return what was answered meanwhile."""
    theirs = [text for text in texts if half[text.person.phone] == DEAD]
    ours = [text for text in texts if half[text.person.phone] == LIVING]
    await kill(halves.partitions[DEAD])
    waiting = asyncio.create_task(_write(driver, theirs, seconds))
    await _write(driver, ours, seconds)
    await _quiet(halves, (LIVING,))
    assert not {text.body for text in theirs} & driver.taken, "a partition that is dead took a text"
    meanwhile = list(driver.answers)
    await halves.partitions[DEAD].start()
    await waiting
    await _quiet(halves, (LIVING, DEAD))
    return meanwhile


async def _write(driver: Driver, texts: Sequence[Text], seconds: float) -> None:
    """Deliver texts at a steady pace, whatever becomes of those before."""
    steps = max(1, int(seconds / _STEP))
    async with asyncio.TaskGroup() as group:
        for step in range(steps):
            group.create_task(driver.deliver(list(texts[step::steps])))
            await asyncio.sleep(_STEP)


async def _quiet(halves: Halves, numbers: Sequence[int]) -> None:
    for number in numbers:
        await until_quiet(halves.system, within=_QUIET_WITHIN, url=halves.urls[number])


def _judge(result: Result, findings: Findings, texts: int) -> None:
    result.numbers |= {
        "texts": str(texts),
        "answered": str(findings.answered),
        "lost": str(findings.lost),
        "doubled": str(findings.doubled),
        "out of order": str(findings.out_of_order),
        "unexplained": str(findings.unexplained),
    }
    result.findings = [
        Finding("I1", "every text that was taken is one row", texts, abs(texts - findings.rows)),
        Finding("I2", "each ends in a reply", texts, texts - findings.answered),
        Finding("I3", "nothing is sent twice", texts, findings.doubled, findings.unknown + findings.resent),
        Finding("I4", "answers come in the order of the texts", texts, findings.out_of_order),
    ]
    result.require(findings.kept(texts), f"not all was kept: {findings}")


async def _tell(halves: Halves, result: Result, half: dict[str, int], rounds: Sequence[Round]) -> float:
    """Write down what both halves met; return how many times as long the living one waited, in the middle round."""

    def of(number: int, answers: Iterable[Answer]) -> list[Answer]:
        return [answer for answer in answers if half[answer.text.person.phone] == number]

    people = [sum(place == number for place in half.values()) for number in (LIVING, DEAD)]
    result.numbers["people"] = f"{people[0]} in the partition that lives, {people[1]} in the one that dies"
    result.require(min(people) > 0, "all people are in one partition")
    ours = of(LIVING, chain.from_iterable(one.meanwhile for one in rounds))
    theirs = of(DEAD, chain.from_iterable(one.meanwhile for one in rounds))
    refused = sum(answer.status != 200 for answer in ours)
    result.numbers |= {
        "deaths": str(len(rounds)),
        "the living half's deliveries meanwhile": f"{len(ours)}, {refused} of them refused",
        "the dead half's deliveries meanwhile": f"{len(theirs)}, each answered {_statuses(theirs)}",
    }
    result.require(not refused, f"{refused} deliveries of the living half were refused")
    # 0: of one who writes a lot, what is behind others is not answered before the provider hangs up.
    told = {answer.status for answer in theirs}
    result.require(503 in told and told <= {0, 503}, f"the dead half was answered {_statuses(theirs)}")
    before = of(LIVING, chain.from_iterable(one.before for one in rounds))
    result.numbers |= {
        "the living half, acknowledged before": _milliseconds([answer.took for answer in before]),
        "the living half, acknowledged meanwhile": _milliseconds([answer.took for answer in ours]),
        "the living half, answered before": await _answered(halves, [text for one in rounds for text in one.texts]),
        "the living half, answered meanwhile": await _answered(halves, [text for one in rounds for text in one.fresh]),
    }
    ratios = [_middle(of(LIVING, one.meanwhile)) / _middle(of(LIVING, one.before)) for one in rounds]
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    result.numbers["acknowledged meanwhile, against before"] = f"{statistics.median(ratios):.2f} times ({shown})"
    return statistics.median(ratios)


async def _answered(halves: Halves, texts: Sequence[Text]) -> str:
    connection = await asyncpg.connect(halves.urls[LIVING])
    try:
        rows = await connection.fetch(_ANSWERED, [text.body for text in texts])
    finally:
        await connection.close()
    return _milliseconds([row["seconds"] for row in rows])


def _middle(answers: Sequence[Answer]) -> float:
    return statistics.median(answer.took for answer in answers)


def _statuses(answers: Sequence[Answer]) -> str:
    return " or ".join(str(status) for status in sorted({answer.status for answer in answers}))


def _milliseconds(seconds: Sequence[float]) -> str:
    if not seconds:
        return "none"
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"p50 {statistics.median(ordered) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms ({len(ordered)})"
