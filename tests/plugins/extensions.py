"""What a plugin brings: a service with a sensor, a tool that asks, and an agent whose fields have choices."""

import json
import os
import uuid

from core.tools.tool import tool
from onevalet import (
    AgentResult,
    Event,
    InputField,
    Question,
    Service,
    ServiceContext,
    StandardAgent,
    ToolExecutionContext,
    valet,
)
from tests.faults.crashing import folder, reach
from tests.faults.journals import append

SENSOR = "sensor.json"
"""What the sensor measures now: an object of people's ids by what it measured."""
STARTED = "services.jsonl"
PIZZA, SAUCE = "Which pizza", "Extra sauce"


class Sensor(Service):
    """Publishes what a sensor measures, and tells whom it concerns."""

    async def start(self, context: ServiceContext) -> None:
        await reach("service before")
        self.context = context
        await context.bus.subscribe("sensor:measured", self.tell, name="sensor")
        for value, tenant_id in _measured().items():
            await context.bus.publish(Event("sensor", "measured", {"value": value}, id=value, tenant_id=tenant_id))
        await reach("service after")
        if (where := folder()) is not None:
            append(where / STARTED, name=os.environ.get("FAULTS_NAME", ""))

    async def stop(self) -> None:
        await reach("stopping")
        await reach("stopped")

    async def tell(self, event: Event) -> None:
        await reach("event before")
        # The mutation: what a notice is known by is another each time.
        key = uuid.uuid4().hex if os.environ.get("FAULTS_DROP") == "notice keys" else event.key
        await self.context.notify(
            event.tenant_id, f"Measured {event.data['value']}.", {"category": "sensor", "dedupe_key": key}
        )
        await reach("event after")


@tool(effect="once")
async def act_asked(token: str, context: ToolExecutionContext) -> str:
    """Do what the person chooses."""
    pizza, sauce = await context.ask(
        Question(f"{PIZZA}, {token}?", ["Margherita", "Funghi"]),
        Question(f"{SAUCE}, {token}?", ["yes", "no"], skip=True),
    )
    await reach("asked answered")
    _note("once", token, context.idempotency_key)
    await reach("once.acted")
    return f"{token} done: {pizza}, {sauce}"


@valet(name="OrderAgent", effect="idempotent")
class OrderAgent(StandardAgent):
    """Order a pizza."""

    token = InputField("What for?")
    pizza = InputField(f"{PIZZA}?", choices=["Margherita", "Funghi"])
    sauce = InputField(f"{SAUCE}?", choices=["yes", "no"], skip=True, default="as usual")

    async def on_running(self, msg: str) -> AgentResult:
        await reach("field before")
        _note("again", str(self.token), self.context.idempotency_key)
        await reach("field after")
        return self.make_result(raw_message=f"{self.token} done: {self.pizza}, {self.sauce}")


def _measured() -> dict[str, str]:
    where = folder()
    path = where / SENSOR if where is not None else None
    if path is None or not path.exists():
        return {}
    measured: dict[str, str] = json.loads(path.read_text())
    return measured


def _note(kind: str, token: str, key: str) -> None:
    if (where := folder()) is not None:
        append(where / "effects.jsonl", kind=kind, token=token, key=key)
