"""What an agent's own handlers see and decide, and what it is handed."""

import builtins
from datetime import timedelta
from pathlib import Path

import pytest

from core.agents.pending_answers import ANSWER
from core.agents.registry import AgentRegistry, read_exposed
from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.agents.valet import valet
from core.credentials.types import ConnectedAccounts
from core.errors import ModelRateLimited
from core.json_types import JsonObject
from core.tools.context import CredentialAccess, ToolExecutionContext
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from onevalet import InputField
from onevalet.testing import MemoryCredentials
from tests.core.agents.harness import Talk
from tests.core.agents.test_runs import SCRIPT, Worker, turn
from tests.core.builders import FakeModel, says, wants
from tests.core.tools.test_toolbox import _request
from tests.scripted_model import calls, text

HEARD: list[str] = []


@pytest.fixture(autouse=True)
def nothing_heard() -> None:
    HEARD.clear()


class Airline(MemoryCredentials):
    """One tenant has connected an airline."""

    def __init__(self, tenant_id: str) -> None:
        self.tenant_id = tenant_id

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        """Tell of the airline."""
        connected = service == "airline" and self.tenant_id == "ann"
        return ConnectedAccounts(service, ("primary",) if connected else ())

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        """List nothing else."""
        return []


class Vault:
    """Where credentials are."""

    def for_tenant(self, tenant_id: str) -> CredentialAccess:
        """Return one tenant's."""
        return Airline(tenant_id)


@valet(name="Asker")
class Asker(StandardAgent):
    """Ask for a name."""

    who = InputField("Who?")

    async def on_cancelled(self) -> None:
        HEARD.append(f"cancelled: {self.status.value}, {self.task_instruction}")

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(raw_message=f"It is {self.who}")


async def test_a_result_of_on_initializing_ends_it_before_it_runs() -> None:
    @valet(name="Picky")
    class Picky(StandardAgent):
        """Be picky."""

        async def on_initializing(self, msg: str) -> AgentResult | None:
            HEARD.append(f"{self.status.value}: {msg}")
            return self.make_result(AgentStatus.ERROR, "Not on Mondays.") if msg == "no" else None

        async def on_running(self, msg: str) -> AgentResult:
            HEARD.append("ran")
            return self.make_result(raw_message="done")

    script = [wants(("Picky", {"task_instruction": "no"}), ("Picky", {"task_instruction": "yes"})), says("ok")]
    _, model = await turn(FakeModel(list(script)), Picky)
    assert sorted(model.told()) == ["Not on Mondays.", "done"]
    assert sorted(HEARD) == ["RUNNING: no", "RUNNING: yes", "ran"]


async def test_promise_14_on_error_may_say_what_the_model_is_told_instead() -> None:
    @valet(name="Shaky")
    class Shaky(StandardAgent):
        """Break."""

        async def on_running(self, msg: str) -> AgentResult:
            raise RuntimeError("password=hunter2")

        async def on_error(self, error: Exception) -> AgentResult | None:
            HEARD.append(type(error).__name__)
            return self.make_result(AgentStatus.ERROR, "The canteen is closed.")

    _, model = await turn([wants(("Shaky", {})), says("ok")], Shaky)
    assert (model.told(), HEARD) == (["The canteen is closed."], ["RuntimeError"])


async def test_on_cancelled_sees_that_it_was_dropped_or_waited_too_long(talk: Talk) -> None:
    talk.agents = [Asker]
    talk.model.add(calls(("Asker", {"task_instruction": "one"})), calls((ANSWER, {"drop": True})), text("Dropped."))
    await talk.say("ask me")
    assert await talk.say("drop that") == ["Dropped."]
    talk.model.add(calls(("Asker", {"task_instruction": "two"})))
    await talk.say("ask me")
    talk.clock.move(timedelta(hours=25))
    await talk.pool.expire(talk.clock.now())
    talk.model.add(text("It took too long."))
    assert await talk.work() == ["It took too long."]
    assert HEARD == ["cancelled: CANCELLED, one", "cancelled: CANCELLED, two"]


async def test_an_agent_that_paused_itself_resumes_in_on_paused(talk: Talk) -> None:
    @valet(name="Sleeper")
    class Sleeper(StandardAgent):
        """Sleep on it."""

        async def on_running(self, msg: str) -> AgentResult:
            self.state = {"dream": "sheep"}
            return self.make_result(AgentStatus.PAUSED, "I will sleep on it.")

        async def on_paused(self, msg: str) -> AgentResult:
            return self.make_result(raw_message=f"I dreamt of {self.state['dream']}")

    talk.agents = [Sleeper]
    talk.model.add(calls(("Sleeper", {})))
    assert await talk.say("sleep on it") == ["I will sleep on it."]
    [tenant] = await talk.store.db.tenants.column("tenant_id")
    [entry] = await talk.pool.list(str(tenant))
    assert entry.status is AgentStatus.PAUSED
    talk.model.add(text("Sheep."))
    assert await talk.pool.resume(str(tenant), entry.agent_id)
    assert await talk.work() == ["Sheep."]
    assert talk.last.tool_results == {"call_1_0": "I dreamt of sheep"}


async def test_promise_11_agents_and_their_tools_get_the_persons_own_credentials() -> None:
    @tool(effect="read")
    async def look(context: ToolExecutionContext) -> str:
        """Look."""
        accounts = await context.credentials.accounts(context.tenant_id, "airline")
        HEARD.append(f"{context.tenant_id}: {accounts.names}")
        return "seen"

    @valet(name="Flyer")
    class Flyer(StandardAgent):
        """Fly."""

        tools = (look,)

    for tenant in ("ann", "bob"):
        script = [wants(("Flyer", {})), wants(("look", {})), says("inner"), says("outer")]
        orchestrator = Orchestrator(FakeModel(list(script)), agents=AgentRegistry([Flyer]), credentials=Vault())
        await orchestrator.handle_message(_request(tenant=tenant))
    assert HEARD == ["ann: ('primary',)", "bob: ()"]


async def test_an_agents_own_loop_recovers_from_a_models_error_as_the_turns_does() -> None:
    script = list(SCRIPT)
    script.insert(1, ModelRateLimited("slow down"))
    answer, model = await turn(script, Worker)
    assert (answer, model.told()) == ("All done", ["Both sent"])


def test_an_operator_offers_an_agent_that_would_not_be(tmp_path: Path) -> None:
    @valet(name="Hidden", expose_as_tool=False)
    class Hidden(StandardAgent):
        """Hide."""

    path = tmp_path / "agent_registry.yaml"
    path.write_text("agents:\n  Hidden:\n    expose_as_tool: true\n")
    assert AgentRegistry([Hidden]).offered() == ()
    assert [agent.name for agent in AgentRegistry([Hidden], read_exposed(path)).offered()] == ["Hidden"]
