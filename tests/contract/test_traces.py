"""One trace from what comes in over the turn to its delivery, whatever is between them."""

import pytest

from core.json_types import JsonObject
from core.turns.orchestrator import Orchestrator
from jobs.delivery.runner import DeliveryRunner
from operations.metrics.inbox import MeasuredInbox
from tests.abilities.tasks.contract.proactive import open_proactive
from tests.clocks import StandingClock
from tests.contract.approving import open_approving
from tests.contract.canaries import leaks, marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.delivery_harness import work
from tests.contract.harness import open_harness
from tests.core.builders import says, wants
from tests.core.harness import OPEN, Store, opened
from tests.operations.tracing.collector import open_collector, traced

pytestmark = [
    pytest.mark.xdist_group("model"),
    # litellm 1.106 looks through an answer in a way that pydantic will drop.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]


async def carried(store: Store) -> list[str | None]:
    """Return the trace of each row that may carry one."""
    tables = ("inbound", "turns", "outbound")
    rows = [context for name in tables for context in await store.column(f"select traceparent from {name}")]  # noqa: S608
    return [str(context).split("-")[1] if context else None for context in rows]


async def test_one_trace_leads_from_what_came_in_to_its_delivery(
    channel: str, database_url: str, orchestrator: Orchestrator
) -> None:
    with open_collector() as collector:
        async with opened(database_url) as store:
            inbox = MeasuredInbox(store.database, store.wakeups, store.make_id, OPEN)
            async with open_harness(HARNESSES[channel], inbox) as harness:
                runner = DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1")
                with traced(collector):
                    await harness.said(marked("Lunch on Friday?"))
                    await work(store, runner, orchestrator)
                on = await carried(store)
                await harness.said(marked("And on Saturday?"))
                await work(store, runner, orchestrator)
                off = await carried(store)
        sent, chat = collector.named(f"send {channel}"), collector.named("chat scripted")
        assert set(on) == {sent.trace}
        assert off.count(None) == len(on), "while nothing is recorded, no row carries anything"
        [posted] = [name for name in collector.path(sent) if name.startswith("POST /")]
        assert collector.path(sent) == [posted, "receive", "turn", f"send {channel}"]
        assert collector.path(chat) == [posted, "receive", "turn", "invoke_agent assistant", "chat scripted"]
        assert {span.trace for span in collector.spans if span.name == "turn"} == {sent.trace}
        assert [span.name for span in collector.spans if span.failed] == []
        assert leaks(collector.raw.decode("latin-1")) == []


async def test_an_approved_turn_goes_on_in_the_trace_of_its_message(database_url: str) -> None:
    with open_collector() as collector:
        async with open_approving(HARNESSES["sms"], database_url, StandingClock()) as system:
            system.model.script = [
                wants(("send_mail", {"to": "sam@example.com", "subject": "Lunch", "body": "Friday?"})),
                says("I sent it."),
            ]
            with traced(collector):
                await system.say(marked("mail sam about lunch"))
                await system.decide("Approve")
        asked, answered = [span for span in collector.spans if span.name == "turn"]
        assert (asked.trace, asked.parent) == (answered.trace, answered.parent)
        assert collector.path(collector.named("execute_tool send_mail"))[-3:] == [
            "turn",
            "invoke_agent assistant",
            "execute_tool send_mail",
        ]
        delivered = [span for span in collector.spans if span.name == "send sms" and span.parent == answered.id]
        assert [span.trace for span in delivered] == [asked.trace]


async def test_what_an_event_starts_is_one_trace_to_its_notification(database_url: str, redis_url: str) -> None:
    task: JsonObject = {"what": "Say who rang", "event_type": "rang", "event_source": "home"}
    with open_collector() as collector:
        async with open_proactive(HARNESSES["sms"], database_url, redis_url) as system:
            await system.hears("set it up", wants(("ScheduleTask", task)))
            await system.decides("Approve", says("Done."))
            with traced(collector):
                await system.happens("ring-1", "rang", {"door": "front"}, says("Somebody rings."))
        sent = collector.named("send sms")
        [posted] = [name for name in collector.path(sent) if name.startswith("POST /events/")]
        assert collector.path(sent) == [posted, "handle event", "turn", "notify", "send sms"]
