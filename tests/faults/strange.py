"""T15, T16: providers that answer strangely for a while, and models whose answers are absurd."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence

from tests.eventually import eventually
from tests.faults.database import read_value
from tests.faults.harness import Harness
from tests.faults.journals import append
from tests.faults.phone_driver import Saying
from tests.faults.results import BEGINS, Result, arrive, conclude, deliver, timed
from tests.faults.script import CHANNELS, FLOOD, MANY, NUMBERS
from tests.faults.sends import RATE_LIMIT_SECONDS
from tests.faults.wire import SENDS

DAY = 86_400.0
RATE_LIMIT_DAY = "429 for a day"
STRANGE: dict[str, dict[str, object]] = {
    "500": {"kind": "server_error", "status": 500},
    "502 with HTML": {"kind": "page", "status": 502},
    "200 with HTML": {"kind": "page", "status": 200},
    "200 with {}": {"kind": "empty"},
    "20 MB": {"kind": "huge"},
    "302": {"kind": "redirect", "status": 302, "location": "http://127.0.0.1:9/latest/meta-data"},
    RATE_LIMIT_DAY: {"kind": "rate_limit", "seconds": DAY},
}
_AN_HOUR_LATER = """
update outbound set next_attempt_at = clock_timestamp() where state in ('ready', 'checking')
"""
_WAITING = "select count(*) from outbound where state in ('ready', 'checking', 'sending')"
_MET = f"{_WAITING} and attempts > 0"
_BUGS = ("Traceback", "work_failed", "send_failed")
_MAX_CALLS = 32
_TOO_LONG = 12
"""More messages than one answer may ever be by itself."""


async def providers(harness: Harness, *, kinds: Sequence[str], messages: int, seconds: float) -> Result:
    """T15: every send of every provider is answered strangely for so long; what was owed then arrives by itself."""
    result = Result("T15", "providers that answer strangely for a while", "lost 0, told, back by itself")
    texts: list[Saying] = []
    async with timed(result):
        for kind in kinds:
            texts += await _strangely(harness, kind, messages, seconds, result)
        evidence = await conclude(harness, texts, result)
    bugs = {word: evidence.logs.count(word) for word in _BUGS if word in evidence.logs}
    result.require(not bugs, f"in the logs: {bugs}")
    return result


async def _strangely(harness: Harness, kind: str, messages: int, seconds: float, result: Result) -> list[Saying]:
    sayings = harness.say(messages, seconds=seconds / 2, acting=0.0)
    append(harness.folder / "strikes.jsonl", what=BEGINS, target="", back=0.0)
    for endpoint in SENDS:
        await harness.fault(endpoint=endpoint, times=0, share=1.0, **STRANGE[kind])
    writing = asyncio.create_task(harness.written(harness.people_write(sayings)))
    await asyncio.sleep(seconds)
    await writing
    # A busy machine may take longer than the fault lasts to make the first answer.
    await eventually(lambda: read_value(harness, _MET), f"an answer that meets {kind}")
    waited = await read_value(harness, _WAITING)
    await harness.no_faults()
    harness.strike(kind)
    ended = time.monotonic()
    if kind == RATE_LIMIT_DAY:
        await asyncio.sleep(RATE_LIMIT_SECONDS)  # what the journal of the providers takes for their Retry-After
        await read_value(harness, _AN_HOUR_LATER)  # the longest that it is kept to
    await arrive(harness, sayings, result)
    took = time.monotonic() - ended
    result.numbers[kind] = f"{len(sayings)} texts, {waited} answers waited at its end, all there {took:.0f} s after it"
    result.require(int(waited) > 0, f"{kind}: nothing met it")
    return sayings


async def models(harness: Harness, *, each: int) -> Result:
    """T16: answers of 200,000 characters, numbers that are none, 500 calls; each person is told and then answered."""
    result = Result("T16", "models whose answers are absurd", "told, bounded, and the next text is answered")
    words = (FLOOD, NUMBERS, MANY)
    bad = [
        Saying(0.2 * n, token := harness.token(person.key), person.key, CHANNELS[n % 3], f"{token} {words[n // 3 % 3]}")
        for n, person in enumerate(harness.people[: each * 9])
    ]
    busy = {saying.person for saying in bad}
    others = [
        saying for saying in harness.say(len(bad), seconds=0.2 * len(bad), acting=0.0) if saying.person not in busy
    ]
    async with timed(result):
        await deliver(harness, [*bad, *others], result)
        token_of = {saying.person: harness.token(saying.person) for saying in bad}
        after = [
            Saying(0.0, token_of[saying.person], saying.person, saying.channel, token_of[saying.person])
            for saying in bad
        ]
        await deliver(harness, after, result)
        evidence = await conclude(harness, [*bad, *others, *after], result)
    for word in words:
        ours = [saying for saying in bad if saying.body.endswith(word)]
        sent = [sum(1 for send in evidence.sends if saying.token in send.tokens and send.accepted) for saying in ours]
        result.numbers[f"asked for {word}"] = (
            f"{len(ours)}, each told: {min(sent, default=0)} to {max(sent, default=0)} messages"
        )
    parts = [await read_value(harness, _PARTS.format(channel=channel)) for channel in CHANNELS]
    result.numbers["messages of the longest answer"] = ", ".join(
        f"{name} {count}" for name, count in zip(CHANNELS, parts, strict=True)
    )
    result.require(max(int(part or 0) for part in parts) <= _TOO_LONG, f"one answer was {max(parts)} messages")
    # A turn whose lease was lost, such as on a machine that stood still, runs some of its calls once more.
    ran = Counter(token for token, _ in {(e["token"], e["key"]) for e in evidence.effects if e["kind"] == "counted"})
    result.numbers["calls that ran of one answer"] = f"{max(ran.values(), default=0)} of 500"
    result.require(
        max(ran.values(), default=0) <= _MAX_CALLS, f"{max(ran.values(), default=0)} calls of one answer ran"
    )
    return result


_PARTS = """
select coalesce(max(n), 0) from (select count(*) as n from outbound_parts p
 join outbound o on o.tenant_id = p.tenant_id and o.id = p.outbound_id
 join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
 where c.channel = '{channel}' and p.state = 'sent' group by p.outbound_id) counted
"""
