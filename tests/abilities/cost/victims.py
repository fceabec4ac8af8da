"""A worker that dies by SIGKILL at one statement of its turns, deliveries or lapses; it ends as usual past the last."""

import asyncio
import random
import sys
from datetime import datetime

from abilities.cost.held import end_waits
from abilities.cost.opening import answer_links, open_services
from core.ids import make_id
from core.messaging.outbox import Outbox
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.delivery.runner import DeliveryRunner
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from notify.sms.send import SmsNotification
from onevalet.wiring.abilities import use_abilities
from tests.abilities.cost.harness import foundation_of, holding_of
from tests.abilities.household.victims import DeadlyDatabase
from tests.clocks import StandingClock
from tests.contract.canaries import TWILIO
from tests.contract.harness import PUBLIC_URL
from tests.core.builders import FakeModel, says
from tests.core.harness import LEASE, RecordedWakeups


def text_of(number: int, *, longer: bool = False) -> str:
    """Return a long answer whose words are no other's; `longer`: nor is its length, which the question tells."""
    return "".join(f"{number:02}word{word:03} " for word in range(210 + 20 * number * longer))


async def work(url: str, point: str, twilio: str, now: str, number: str) -> None:
    """Run the waiting turns, end the waits that are over, and send what is owed."""
    database, clock = DeadlyDatabase(url, point), StandingClock(datetime.fromisoformat(now))
    foundation, wakeups = foundation_of(database, clock), RecordedWakeups()
    model = FakeModel([says(text_of(int(number), longer=True))])
    orchestrator = Orchestrator(model, clock=clock, services=open_services(foundation))
    store = TurnStore(database, make_id, LEASE)
    turns = TurnRunner(store, orchestrator, wakeups, {}, make_id, f"victim {point}", TurnFeatures(None))
    while lease := await turns.claim(None):
        await turns.run(lease)
    await end_waits(database, clock, wakeups, answer_links(foundation))
    sms = SmsNotification(
        account_sid=TWILIO.account_sid,
        auth_token=TWILIO.auth_token,
        sender=TWILIO.number,
        public_url=PUBLIC_URL,
        api_url=twilio,
    )
    outbox = Outbox(database, make_id, LEASE)
    runner = DeliveryRunner(
        outbox, {"sms": sms}, f"victim {point}", random.Random(1), clock=clock, holding=holding_of(foundation)
    )
    while claim := await runner.claim(None):
        await runner.run(claim)
    await sms.close()
    await database.close()


def main() -> None:
    """Work until the point."""
    use_abilities()
    asyncio.run(work(*sys.argv[1:]))
