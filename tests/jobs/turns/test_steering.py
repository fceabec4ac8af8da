"""What reaches a turn while it runs, from the inbox to the model: over a real store and the real loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from core.llm.types import ChatMessage, Marker, ModelAnswer, ModelRequest, Role
from core.loop.config import ReactLoopConfig
from core.messaging.messages import Command
from core.people.tenant import WhileRunning
from core.tools.tool import AnyTool, tool
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.runner import TurnRunner
from tests.core.builders import FakeModel, Step, says, wants
from tests.core.harness import LEASE, Store, message
from tests.eventually import never
from tests.jobs.turns.test_runner import fates, replies

type Act = Callable[[], Awaitable[object]]


def errand(act: Act) -> AnyTool:
    """Make a once tool during which something happens."""

    @tool
    async def run_errand() -> str:
        """Run an errand."""
        await act()
        return "run"

    return run_errand


async def run(
    store: Store, *script: Step, tools: tuple[AnyTool, ...] = (), mode: WhileRunning = WhileRunning.STEER
) -> FakeModel:
    """Run all that waits now, with the real loop; everybody prefers the same for what they write meanwhile."""
    await store.db.tenants.change({"while_running": mode.value})
    model = FakeModel(list(script))
    orchestrator = Orchestrator(model, tools=tools, config=ReactLoopConfig(tools_in_full=0))
    turns = TurnStore(store.database, store.make_id, LEASE)
    runner = TurnRunner(turns, orchestrator, store.wakeups, {}, store.make_id, "w1")
    while lease := await runner.claim(None):
        await runner.run(lease)
    return model


async def inbound(store: Store) -> list[tuple[object, ...]]:
    """Return what became of every message, in order."""
    return [tuple(row) for row in await store.admin.fetch("select text, state, reason from inbound order by seq")]


def told(model: FakeModel, index: int = -1) -> list[str]:
    """Return the person's messages in a request."""
    return [message.text for message in model.requests[index].messages if _is_told(message)]


def _is_told(message: ChatMessage) -> bool:
    return message.role is Role.USER and message.marker is not Marker.CONTEXT


class TestSteer:
    async def test_a_message_during_a_turn_joins_the_next_call_and_is_answered_once(self, store: Store) -> None:
        await store.say("Weather?")
        tools = (errand(lambda: store.say("And tomorrow?")),)
        model = await run(store, wants(("run_errand", {})), says("Sun, then rain"), tools=tools)
        assert told(model, 0) == ["Weather?"]
        assert told(model, 1) == ["Weather?", "And tomorrow?"]
        assert await replies(store) == ["Sun, then rain"]
        assert await inbound(store) == [("Weather?", "done", ""), ("And tomorrow?", "done", "")]
        history = await store.column("select message::json ->> 'role' from history order by position")
        assert history == ["user", "assistant", "tool", "user", "assistant"]

    async def test_promise_5_what_was_taken_in_is_taken_over_and_told_once(self, store: Store) -> None:
        asked = asyncio.Event()

        async def hang(_: ModelRequest) -> ModelAnswer:
            asked.set()
            await never()
            raise AssertionError

        await store.say("Weather?")
        tools = (errand(lambda: store.say("And tomorrow?")),)
        task = asyncio.create_task(run(store, wants(("run_errand", {})), hang, tools=tools))
        await asked.wait()
        task.cancel()
        await asyncio.wait([task])
        await store.say("And then?")
        model = await run(store, says("Sun, rain, snow"), tools=tools)
        assert told(model) == ["Weather?", "And tomorrow?", "And then?"]
        assert await replies(store) == ["Sun, rain, snow"]
        assert [row[1] for row in await inbound(store)] == ["done"] * 3

    async def test_a_queued_one_gets_the_next_turn(self, store: Store) -> None:
        await store.say("Weather?")
        tools = (errand(lambda: store.say("And tomorrow?")),)
        script = (wants(("run_errand", {})), says("Sun"), says("Rain"))
        model = await run(store, *script, tools=tools, mode=WhileRunning.QUEUE)
        assert told(model, 1) == ["Weather?"]
        assert await replies(store) == ["Sun", "Rain"]
        assert [row[:2] for row in await fates(store)] == [("done", ""), ("done", "")]

    async def test_an_interrupting_one_ends_the_turn_and_the_next_knows_both(self, store: Store) -> None:
        await store.say("Weather?")
        tools = (errand(lambda: store.say("No, tomorrow's")),)
        script = (wants(("run_errand", {})), says("Rain"))
        model = await run(store, *script, tools=tools, mode=WhileRunning.INTERRUPT)
        assert told(model) == ["Weather?", "No, tomorrow's"]
        assert model.told() == ["run"]
        assert await replies(store) == ["Rain"]
        assert [row[:2] for row in await fates(store)] == [("interrupted", "superseded"), ("done", "")]
        assert await inbound(store) == [("Weather?", "done", "superseded"), ("No, tomorrow's", "done", "")]


class TestStop:
    @pytest.mark.parametrize(("words", "answer"), [("", "Stopped."), ("wrong person", "Stopped: wrong person")])
    async def test_a_stop_ends_the_turn_after_the_running_tools_with_its_message(
        self, store: Store, words: str, answer: str
    ) -> None:
        await store.say("Long work")
        ran: list[int] = []

        async def stop() -> None:
            await store.say(words, command="stop")
            ran.append(1)

        model = await run(store, wants(("run_errand", {})), says("never"), tools=(errand(stop),))
        assert len(model.requests) == 1
        assert await replies(store) == [answer]
        assert [row[:2] for row in await fates(store)] == [("interrupted", "interrupted")]
        assert ran == [1]
        model = await run(store)
        assert model.requests == []

    async def test_the_next_turn_knows_what_was_done_before_the_stop(self, store: Store) -> None:
        await store.say("Long work")
        await run(store, wants(("run_errand", {})), tools=(errand(lambda: store.say("", command="stop")),))
        await store.say("What was done?")
        model = await run(store, says("The errand"))
        assert model.told() == ["run"]
        assert told(model) == ["Long work", "What was done?"]

    async def test_what_was_written_before_the_stop_is_not_lost(self, store: Store) -> None:
        async def write_and_stop() -> None:
            await store.say("And this")
            await store.say("", command="stop")

        await store.say("Long work")
        model = await run(store, wants(("run_errand", {})), says("Done"), tools=(errand(write_and_stop),))
        assert await replies(store) == ["Stopped.", "Done"]
        assert told(model) == ["Long work", "And this"]


class TestNew:
    @pytest.mark.parametrize("channel", ["sms", "slack", "telegram", "terminal"])
    async def test_starts_a_fresh_session_on_every_channel(self, store: Store, channel: str) -> None:
        def said(text: str, command: Command | None = None) -> Awaitable[object]:
            message_ = message(text, "+15550000001", store.make_id("SM"), command=command)
            return store.inbox.accept(replace(message_, address=replace(message_.address, channel=channel)))

        await said("I am Ada")
        await run(store, says("Hello Ada"))
        await said("Who am I?")
        model = await run(store, says("Ada"))
        assert told(model) == ["I am Ada", "Who am I?"]
        await said("", Command("new"))
        await said("Who am I?")
        model = await run(store, says("I don't know"))
        assert told(model) == ["Who am I?"]
        assert len(model.last) == 3
        assert (await replies(store))[2] == "A fresh start. What can I do for you?"

    async def test_ends_the_groups_that_were_on_and_what_was_seen(self, store: Store) -> None:
        @tool(effect="read", group="mail")
        async def read_mail() -> list[dict[str, str]]:
            """Read."""
            return [{"id": "m1", "subject": "Hi"}]

        await store.say("Mail?")
        script = (wants(("use_tools", {"group": "mail"})), wants(("read_mail", {})), says("One"))
        await run(store, *script, tools=(read_mail,))
        await store.say("And now?")
        model = await run(store, says("One still"), tools=(read_mail,))
        assert [spec.name for spec in model.requests[0].tools] == ["use_tools", "read_mail"]
        assert "id m1" in model.last[-2].text
        await store.say("", command="new")
        await store.say("And now?")
        model = await run(store, says("What?"), tools=(read_mail,))
        assert [spec.name for spec in model.requests[0].tools] == ["use_tools"]
        assert "id m1" not in model.last[-2].text
