"""A halt of all work reaches what runs: a turn stops before its next step, and goes on afterwards by its journal."""

import asyncio

import asyncpg
import pytest

from core.agents.standard_agent import AgentResult, StandardAgent
from core.agents.valet import valet
from core.db.database import Database
from core.llm.types import ModelAnswer
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from jobs.turns.runner import TurnRunner
from tests.core.builders import FakeModel, says, wants
from tests.core.harness import Store, opened
from tests.jobs.delivery.test_runner import deliver, runner, states
from tests.jobs.harness import RecordingChannel
from tests.jobs.turns.test_interrupts import hanging
from tests.jobs.turns.test_runner import fates, replies
from tests.patience import PATIENCE

HALT = "select begin_halt('a test')"
# A turn that was handed back waits for two seconds.
LIFT = "select end_halt('a test'); update lanes set not_before = null"


def turns_of(store: Store, model: FakeModel, *tools: object) -> TurnRunner:
    """Return a runner of turns."""
    orchestrator = Orchestrator(model, tools=list(tools))  # type: ignore[arg-type]
    return TurnRunner(store.turns, orchestrator, store.wakeups, {}, store.make_id, "w1")


def helped(store: Store, agent: type[StandardAgent], *answers: ModelAnswer) -> TurnRunner:
    """Return a runner of turns with an agent and a model that answers so."""
    orchestrator = Orchestrator(FakeModel(list(answers)), agents=[agent])
    return TurnRunner(store.turns, orchestrator, store.wakeups, {}, store.make_id, "w1")


async def run(turns: TurnRunner) -> bool:
    """Run the lane that waits; False if none may be claimed."""
    if (lease := await turns.claim(None)) is None:
        return False
    await turns.run(lease)
    return True


async def test_a_call_of_a_model_is_cut_off_and_asked_again_after_the_halt(store: Store) -> None:
    async with hanging(store, "+15550000001") as (_, runner_):
        await store.admin.execute(HALT)
        await runner_.interrupts.look(str(await store.db.turns.one("lane_id")))
    assert await fates(store) == [("running", "", 1)]
    assert await store.one("select owner from lanes") is None
    turns = turns_of(store, FakeModel([says("Seven")]))
    assert not await run(turns)
    await store.admin.execute(LIFT)
    assert await run(turns)
    assert await replies(store) == ["Seven"]
    assert await fates(store) == [("done", "", 1)]


async def test_a_tool_that_has_begun_ends_and_the_next_step_waits(store: Store) -> None:
    done: list[str] = []

    @tool(effect="once")
    async def act(number: int) -> str:
        """Act."""
        await store.admin.execute(HALT)
        done.append(f"act {number}")
        return "acted"

    await store.say("go")
    assert await run(turns_of(store, FakeModel([wants(("act", {"number": 1}))]), act))
    assert done == ["act 1"]
    assert await store.column("select state from steps where kind = 'tool'") == ["done"]
    await store.admin.execute(LIFT)
    model = FakeModel([says("All done")])
    assert await run(turns_of(store, model, act))
    assert (done, await replies(store), len(model.requests)) == (["act 1"], ["All done"], 1)


async def test_no_call_with_an_effect_begins_and_those_beside_it_end(store: Store) -> None:
    done: list[str] = []
    begun, halted = asyncio.Event(), asyncio.Event()

    @tool(effect="once")
    async def slow() -> str:
        """Act slowly."""
        begun.set()
        await halted.wait()
        done.append("slow")
        return "acted"

    @tool(effect="read")
    async def halting() -> str:
        """Halt all work once the other has begun."""
        await begun.wait()
        await store.admin.execute(HALT)
        halted.set()
        return "halted"

    @tool(effect="once", parallel=False)
    async def later() -> str:
        """Act later."""
        done.append("later")
        return "acted"

    await store.say("go")
    tools = (slow, halting, later)
    asked = wants(("slow", {}), ("halting", {}), ("later", {}))
    assert await run(turns_of(store, FakeModel([asked]), *tools))
    assert done == ["slow"]
    assert await fates(store) == [("running", "", 1)]
    await store.admin.execute(LIFT)
    assert await run(turns_of(store, FakeModel([says("All done")]), *tools))
    assert done == ["slow", "later"]
    assert await store.column("select outcome from steps where kind = 'tool' order by call_index") == ["ok"] * 3


@pytest.mark.parametrize("own", [False, True])
async def test_an_agent_that_stops_inside_its_own_loop_goes_on_there(store: Store, own: bool) -> None:
    done: list[int] = []

    @tool(effect="once")
    async def act(number: int) -> str:
        """Act, and halt all work the first time."""
        done.append(number)
        if number == 1:
            await store.admin.execute(HALT)
        return "acted"

    @valet(name="Helper")
    class Working(StandardAgent):
        """Help in two steps."""

        tools = (act,)

    @valet(name="Helper", effect="idempotent")
    class Handling(StandardAgent):
        """Help in two steps."""

        async def on_running(self, msg: str) -> AgentResult:
            return self.make_result(raw_message=await self.think("Act twice.", tools=[act]))

    agent = Handling if own else Working
    await store.say("go")
    assert await run(helped(store, agent, wants(("Helper", {})), wants(("act", {"number": 1}))))
    assert await fates(store) == [("running", "", 1)]
    await store.admin.execute(LIFT)
    assert await run(helped(store, agent, wants(("act", {"number": 2})), says("Twice"), says("All done")))
    assert (done, await replies(store)) == ([1, 2], ["All done"])
    assert await store.column("select outcome from steps where state <> 'done' or outcome <> 'ok'") == []


async def test_promise_5_a_handler_that_acted_before_a_halt_acts_once(store: Store) -> None:
    done: list[str] = []

    @tool(effect="read")
    async def look() -> str:
        """Look, and halt all work."""
        await store.admin.execute(HALT)
        return "seen"

    @valet(name="Helper")
    class Helper(StandardAgent):
        """Post, then think."""

        async def on_running(self, msg: str) -> AgentResult:
            done.append("posted")
            return self.make_result(raw_message=await self.think("Look.", tools=[look]))

    await store.say("go")
    assert await run(helped(store, Helper, wants(("Helper", {})), wants(("look", {}))))
    await store.admin.execute(LIFT)
    assert await run(helped(store, Helper, says("I cannot say whether it was posted")))
    assert (done, await replies(store)) == (["posted"], ["I cannot say whether it was posted"])
    assert await store.column("select outcome from steps where step = -1") == ["unknown"]


class HaltsInBetween(Database):
    """A database that loses the answer to a call's beginning, and whose work is halted before that is repeated."""

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run the statement; the beginning of a call twice, with a halt in between."""
        answer = await super().rows(statement, *args)
        if "record_step" in statement and isinstance(args[-1], list) and args[-1][-1]["state"] == "started":
            await super().rows(HALT)
            answer = await super().rows(statement, *args)
        return answer


async def test_promise_5_a_call_that_had_begun_before_a_halt_is_known_to_have(database_url: str) -> None:
    done: list[str] = []

    @tool(effect="once")
    async def act() -> str:
        """Act."""
        done.append("acted")
        return "acted"

    async with opened(database_url, HaltsInBetween(database_url)) as store:
        await store.say("go")
        assert await run(turns_of(store, FakeModel([wants(("act", {}))]), act))
        assert (done, await store.column("select outcome from steps where kind = 'tool'")) == (["acted"], ["ok"])
        # The next one is begun under another lease: that is refused.
        await store.admin.execute(LIFT)
        assert await run(turns_of(store, FakeModel([says("All done")]), act))
        assert await replies(store) == ["All done"]


async def test_a_turn_that_was_claimed_before_the_halt_does_not_begin(store: Store) -> None:
    await store.say("go")
    lease = await store.turns.claim(None, "w1")
    assert lease is not None
    await store.admin.execute(HALT)
    assert await store.turns.begin(lease) is None
    assert await store.column("select pending from lanes") == [True]
    await store.admin.execute(LIFT)
    assert await run(turns_of(store, FakeModel([says("Here")])))
    assert await replies(store) == ["Here"]


async def test_a_message_that_was_claimed_before_the_halt_leaves_after_it(store: Store) -> None:
    channel = RecordingChannel()
    await store.enqueue("one", "two")
    sender = runner(store, channel)
    claim = await sender.claim(None)
    assert claim is not None
    await store.admin.execute(HALT)
    await sender.run(claim)
    await deliver(store, channel)
    assert channel.texts == []
    assert await states(store) == ["ready", "ready"]
    await store.admin.execute(LIFT)
    await deliver(store, channel)
    assert channel.texts == ["one", "two"]


async def test_a_halt_between_two_parts_keeps_the_second_for_later(store: Store) -> None:
    channel = RecordingChannel()
    channel.acts.append(lambda _: store.admin.execute(HALT))
    await store.enqueue("one|two")
    await deliver(store, channel)
    assert channel.texts == ["one"]
    await store.admin.execute(LIFT)
    await deliver(store, channel)
    assert channel.texts == ["one", "two"]


async def test_a_message_is_not_given_up_for_the_time_of_a_halt(store: Store) -> None:
    await store.enqueue("one")
    await store.admin.execute("update outbound set created_at = now() - interval '2 days'")
    await store.admin.execute(HALT)
    await store.admin.execute(LIFT)
    claim = await store.outbox.claim(None, "w1")
    assert claim is not None
    due = await store.outbox.load(claim)
    assert due.age.total_seconds() < PATIENCE
