"""T13: texts that block the event loop of their worker for good."""

from onevalet.supervision.heartbeat import HUNG_AFTER
from tests.faults.checker import Evidence
from tests.faults.harness import STUCK_AFTER, Harness
from tests.faults.journals import read
from tests.faults.phone_driver import Saying
from tests.faults.results import Result, conclude, deliver, show_recoveries, timed
from tests.faults.script import HANG


async def hang(harness: Harness, *, hanging: int, messages: int, seconds: float) -> Result:
    """T13: texts whose tool never gives the loop back, in the middle of others' talk, which lasts so long."""
    result = Result(
        "T13", "texts that block their worker's event loop", "replaced, set aside and told; the others are answered"
    )
    people = harness.people[:hanging]
    bad = [_saying(harness, person.key, HANG) for person in people]
    # Those who wrote such a text write nothing else: it would be taken in by the same turn, and share its fate.
    busy = {person.key for person in people}
    others = [saying for saying in harness.say(messages, seconds=seconds) if saying.person not in busy]
    # What a worker held that hangs is taken over once it is replaced.
    harness.stuck_after = STUCK_AFTER + HUNG_AFTER
    async with timed(result):
        await deliver(harness, [*bad, *others], result)
        after = [_saying(harness, person.key, "") for person in people]
        await deliver(harness, after, result)
        evidence = await conclude(harness, [*after, *others], result)
    harness.stuck_after = STUCK_AFTER
    _judge(harness, result, evidence, {saying.token for saying in bad}, {saying.token for saying in [*after, *others]})
    return result


def _judge(harness: Harness, result: Result, evidence: Evidence, bad: set[str], good: set[str]) -> None:
    aside = {row["token"] for row in evidence.inbound if row["turn_state"] == "poison"}
    notices = [row for row in evidence.outbound if "set it aside" in row["text"] and row["state"] == "sent"]
    logs = "".join(worker.log.read_text() for worker in harness.workers)
    result.numbers |= {
        "texts that hang": str(len(bad)),
        "set aside": str(len(aside & bad)),
        "told": str(len(notices)),
        "processes replaced": str(logs.count("worker_hangs")),
        "innocent set aside": str(len(aside & good)),
        "others' answers": show_recoveries(_waits(harness, evidence, good)),
    }
    result.require(bad <= aside, "a text that hangs was not set aside")
    result.require(len(notices) >= len(bad), "somebody was not told that their text was set aside")
    result.require(not aside & good, f"innocent texts were set aside: {sorted(aside & good)[:3]}")
    result.require("worker_hangs" in logs, "no worker was replaced")


def _waits(harness: Harness, evidence: Evidence, tokens: set[str]) -> list[float]:
    """Return for each text the seconds until its answer was taken by the provider."""
    said_at = {
        str(event["token"]): float(str(event["at"]))
        for event in read(harness.folder / "phones.jsonl")
        if event["event"] == "saying"
    }
    return [
        send.at - said_at[token]
        for send in evidence.sends
        if send.accepted
        for token in send.tokens
        if token in tokens and token in said_at
    ]


def _saying(harness: Harness, person: str, body: str) -> Saying:
    token = harness.token(person)
    return Saying(at=0.0, token=token, person=person, channel="sms", body=f"{token} {body}".strip())
