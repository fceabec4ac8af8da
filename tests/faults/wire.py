"""T5, T6: what comes again and again, and providers that misbehave."""

import asyncio

from tests.faults.harness import Harness
from tests.faults.results import Result, conclude, deliver, timed
from tests.faults.sends import RATE_LIMIT_SECONDS
from tests.faults.stores import TROUBLES
from tests.faults.strikes import trouble

SENDS = ("twilio.messages.create", "slack.chat.postMessage", "telegram.sendMessage")
_KINDS: tuple[tuple[str, dict[str, object]], ...] = (
    ("rate_limit", {"seconds": RATE_LIMIT_SECONDS}),
    ("server_error", {"status": 500}),
    ("server_error", {"status": 502}),
    ("server_error_after", {"status": 503}),
    ("reset_before", {}),
    ("reset_after", {}),
    ("timeout_before", {"seconds": 12.0}),
    ("timeout_after", {"seconds": 12.0}),
)


async def redelivery(harness: Harness, *, messages: int, seconds: float) -> Result:
    """T5: every text comes one to five times, shuffled and in parallel, to several processes."""
    result = Result("T5", "every text delivered 1 to 5 times, in parallel", "handled once")
    sayings = harness.say(messages, seconds=seconds, copies=5, acting=0.1)
    async with timed(result):
        await deliver(harness, sayings, result)
        evidence = await conclude(harness, sayings, result)
    result.numbers["deliveries taken"] = str(sum(1 for arrival in evidence.arrivals if 200 <= arrival.status < 300))
    return result


async def provider_faults(harness: Harness, *, messages: int, seconds: float, share: float, stops: int) -> Result:
    """T6: a share of all sends fails in every way there is; some people stop or block in the middle."""
    result = Result("T6", f"{share:.0%} of sends fail; people stop or block", "no blind retry, none before its time")
    for endpoint in SENDS:
        for kind, how in _KINDS:
            await harness.fault(endpoint=endpoint, kind=kind, times=0, share=share / len(_KINDS), **how)
    sayings = harness.say(messages, seconds=seconds)
    leaving = frozenset(person.key for person in harness.people[-stops:])
    staying = [saying for saying in sayings if saying.person not in leaving]
    async with timed(result):
        writing = asyncio.create_task(deliver(harness, sayings, result, leaving=leaving))
        await asyncio.sleep(seconds * 0.7)
        for key in sorted(leaving):
            await harness.act(key, "telegram", "block")
            await harness.act(key, "twilio", "say", text="STOP")
        for kind in TROUBLES:
            await trouble("providers", kind, min(2.0, seconds / 20))(harness)
        await writing
        await harness.no_faults()
        evidence = await conclude(harness, staying, result)
        for key in sorted(leaving):
            await harness.act(key, "telegram", "unblock")
            await harness.act(key, "twilio", "say", text="START")
    failed = sum(1 for send in evidence.sends if not send.accepted)
    unseen = sum(1 for send in evidence.sends if send.accepted and not 200 <= send.status < 300)
    result.numbers |= {
        "sends": str(len(evidence.sends)),
        "refused or broken": str(failed),
        "accepted with a lost answer": str(unseen),
        "people who stopped": str(len(leaving)),
        "pauses before a resend that cannot be looked up": "a twentieth of the product's",
        "troubles of the wire": ", ".join(kind.value for kind in TROUBLES),
    }
    return result
