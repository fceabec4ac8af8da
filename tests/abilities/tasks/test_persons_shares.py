"""What is done for a person takes of that person's share: their turns, runs and looks say whose work it is."""

from dataclasses import dataclass

from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.runs.condition_checks import ConditionChecks
from core.http.peer import PERSON
from core.http.types import HttpResponse
from core.turns.types import TurnRequest, TurnResult
from tests.abilities.tasks.harness import NOW, World, echo, make_harness
from tests.core.harness import Store

URL = "https://shop.example/price.json"


@dataclass(slots=True)
class Seen(World):
    """A world that notes for whom it was looked at."""

    person: str = ""

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        """Return a page."""
        self.person = PERSON.get()
        return HttpResponse(200, {}, b'{"price": 1}', url)


async def test_promise_12_turns_and_looks_are_in_their_persons_share(store: Store) -> None:
    persons = list[str]()

    async def answer(request: TurnRequest) -> TurnResult:
        persons.append(PERSON.get())
        return await echo(request)

    harness = await make_harness(store, answer)
    engine, tenant, world = harness.engine, harness.tenant, Seen()
    harness.runner.looking = ConditionChecks(engine, world, harness.clock, store.make_id)
    for trigger in (
        ScheduleTrigger(at=NOW),
        ConditionTrigger("value < 300", url=URL, path="$.price", every_minutes=10),
    ):
        await engine.create_task(tenant_id=tenant, trigger=trigger, action={"instruction": "Tell me"}, title="It")
    for _ in range(2):
        await harness.work()
        harness.clock.move(minutes=20)
    assert persons[0] == world.person == harness.tenant
