"""A model that is down: the turn is tried again for minutes, holds up nobody, and its person is told once."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from core import replies
from core.language.catalogue import gettext
from core.loop.config import ReactLoopConfig
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address
from core.tools.tool import AnyTool, tool
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.runner import TurnRunner
from providers.models.litellm_client import LiteLLMClient
from tests.core.harness import LEASE, Store, TwiceDatabase, opened
from tests.eventually import eventually
from tests.jobs.harness import RecordingChannel
from tests.jobs.turns.test_runner import fates
from tests.jobs.turns.test_runner import replies as said
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, cut, error, hang, text

QUICK = ReactLoopConfig(llm_retry_base_delay=0.01, llm_max_retries=0, llm_first_token_timeout=0.4)
LONGER = replies.TAKES_LONGER
OTHER = "+15550000002"


@dataclass
class Worker:
    """Workers over one database and one model server; each `work` is another process's, which remembers nothing."""

    store: Store
    model: ScriptedModel
    client: LiteLLMClient
    config: ReactLoopConfig = QUICK
    tools: tuple[AnyTool, ...] = ()
    channels: dict[str, NotificationChannel] = field(default_factory=dict)

    async def work(self, *answers: Reply) -> None:
        """Run all that is due, with these answers."""
        self.model.add(*answers)
        orchestrator = Orchestrator(self.client, tools=self.tools, config=self.config)
        turns = TurnStore(self.store.database, self.store.make_id, LEASE)
        runner = TurnRunner(turns, orchestrator, self.store.wakeups, self.channels, self.store.make_id, "w1")
        while lease := await runner.claim(None):
            await runner.run(lease)

    async def later(self, minutes: float, *answers: Reply) -> None:
        """Run all that is due then."""
        for statement in (
            "update lanes set not_before = not_before - $1::interval",
            "update turns set model_down_since = model_down_since - $1::interval",
            "update steps set finished_at = finished_at - $1::interval",
        ):
            await self.store.admin.execute(statement, timedelta(minutes=minutes))
        await self.work(*answers)

    async def pause(self) -> float:
        """Return the seconds until the only lane is due."""
        seconds: Any = await self.store.one("select extract(epoch from not_before - clock_timestamp()) from lanes")
        return float(seconds)


@pytest.fixture
async def worker(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worker]:
    async with ScriptedModel([]) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        client = LiteLLMClient("openai/scripted")
        await client.warm_up()
        yield Worker(store, model, client)
        await client.close()


class TestTriedAgain:
    @pytest.mark.parametrize("trouble", [error(500), error(503), error(429), cut(), hang(1)])
    async def test_promise_6_a_model_that_comes_back_answers_the_message(self, worker: Worker, trouble: Reply) -> None:
        await worker.store.say("What is it?")
        times = 2 if trouble.delay else 1  # a silent model is asked twice
        await worker.work(*[trouble] * times)
        assert await said(worker.store) == [LONGER], "told at once, and not as a failure"
        assert await fates(worker.store) == [("running", "", 1)]
        await worker.later(1, *[trouble] * times)
        await worker.later(2, text("Seven"))
        assert await said(worker.store) == [LONGER, "Seven"]
        assert await fates(worker.store) == [("done", "", 1)]
        assert await worker.store.db.inbound.column("state") == ["done"]

    async def test_a_server_that_is_not_there_is_waited_for(
        self, worker: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await worker.store.say("What is it?")
        with monkeypatch.context() as nowhere:
            nowhere.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
            await worker.work()
        assert await said(worker.store) == [LONGER]
        await worker.later(1, text("Seven"))
        assert await said(worker.store) == [LONGER, "Seven"]

    async def test_the_pauses_grow_to_a_minute(self, worker: Worker) -> None:
        await worker.store.say("What is it?")
        for full in (5, 10, 20, 40, 60, 60):
            began = time.monotonic()
            await worker.later(1.3, error(500))
            pause = await worker.pause()
            work, _, after = worker.store.wakeups.later[-1]
            assert work == "turns"
            assert abs(after.total_seconds() - pause) <= time.monotonic() - began
            assert full * 0.75 - (time.monotonic() - began) <= pause <= full * 1.25

    async def test_retry_after_is_kept(self, worker: Worker) -> None:
        await worker.store.say("What is it?")
        await worker.work(error(429, retry_after=200))
        assert 60 * 1.25 < await worker.pause() <= 200
        assert len(worker.model.calls) == 1

    async def test_what_a_tool_did_before_is_not_done_again(self, worker: Worker) -> None:
        sent: list[str] = []

        @tool
        async def send(to: str) -> str:
            """Send."""
            sent.append(to)
            return "sent"

        worker.tools = (send,)
        await worker.store.say("Send it to Ada")
        await worker.work(calls(("send", {"to": "Ada"})), error(500))
        await worker.later(1, error(500))
        await worker.later(1, text("Sent"))
        assert sent == ["Ada"]
        assert await said(worker.store) == [LONGER, "Sent"]

    async def test_what_the_person_wrote_meanwhile_is_answered_with_it(self, worker: Worker) -> None:
        await worker.store.say("What is it?")
        await worker.work(error(500))
        await worker.store.say("Are you there?")
        await worker.later(1, text("Yes, seven"))
        assert worker.model.calls[-1].new_user_texts == ["What is it?", "Are you there?"]
        assert await said(worker.store) == [LONGER, "Yes, seven"]

    async def test_another_person_is_answered_meanwhile(self, worker: Worker) -> None:
        def script(call: ModelCall) -> Reply:
            return error(500) if "What is it?" in call.last_user else text("Hello")

        worker.model.script = script
        await worker.store.say("What is it?")
        await worker.store.say("Hi", sender=OTHER)
        await worker.work()
        assert await worker.store.db.outbound.column("text", order="created_at") == [LONGER, "Hello"]
        assert await worker.store.one("select count(*) from lanes where owner is not null") == 0


class TestGivenUp:
    async def test_at_the_end_of_patience_the_person_is_told_once(self, worker: Worker) -> None:
        await worker.store.say("What is it?")
        for minutes in (0, 4, 5):
            await worker.later(minutes, error(500))
            assert await said(worker.store) == [LONGER]
        await worker.later(2, error(500))
        assert await said(worker.store) == [LONGER, replies.MODEL_DOWN]
        assert await fates(worker.store) == [("failed", "model_down", 1)]

    async def test_a_pause_ends_with_patience(self, worker: Worker) -> None:
        await worker.store.say("What is it?")
        await worker.work(error(500))
        await worker.later(9.9, error(500))
        assert await worker.pause() < 6.1

    async def test_a_retry_after_beyond_patience_is_told_at_once(self, worker: Worker) -> None:
        await worker.store.say("What is it?")
        await worker.work(error(429, retry_after=3600))
        assert await said(worker.store) == [replies.MODEL_DOWN]

    async def test_without_patience_it_fails_at_once(self, worker: Worker) -> None:
        worker.config = ReactLoopConfig(llm_retry_base_delay=0.01, llm_max_retries=0, llm_outage_patience=0)
        await worker.store.say("What is it?")
        await worker.work(error(500))
        assert await said(worker.store) == [replies.MODEL_DOWN]

    @pytest.mark.parametrize("final", [error(401), error(400), error(429, code="insufficient_quota")])
    async def test_what_time_does_not_mend_is_told_at_once(self, worker: Worker, final: Reply) -> None:
        await worker.store.say("What is it?")
        await worker.work(final)
        assert len(await said(worker.store)) == 1
        assert LONGER not in await said(worker.store)
        assert [state for state, *_ in await fates(worker.store)] == ["failed"]

    async def test_an_outage_after_an_answer_has_patience_of_its_own(self, worker: Worker) -> None:
        @tool(effect="read")
        async def look() -> str:
            """Look."""
            return "seen"

        worker.tools = (look,)
        await worker.store.say("What is it?")
        await worker.work(error(500))
        await worker.later(9, calls(("look", {})), error(500))
        await worker.later(9, error(500))
        assert await fates(worker.store) == [("running", "", 1)]
        await worker.later(2, error(500))
        assert await said(worker.store) == [LONGER, replies.MODEL_DOWN], "told of the wait once a turn"


class TestStop:
    async def test_a_stop_ends_the_wait_at_once_without_the_model(self, worker: Worker) -> None:
        await worker.store.say("What is it?")
        await worker.work(error(429, retry_after=300))
        worker.store.wakeups.turns.clear()
        await worker.store.say("", command="stop")
        assert worker.store.wakeups.turns == await worker.store.db.lanes.column("id")
        await worker.work()
        assert await said(worker.store) == [LONGER, replies.INTERRUPTED]
        assert await fates(worker.store) == [("interrupted", "interrupted", 1)]
        assert len(worker.model.calls) == 1

    async def test_a_stop_during_the_failing_call_is_not_waited_with(self, worker: Worker) -> None:
        async def script(call: ModelCall) -> Reply:
            await worker.store.say("", command="stop")
            return error(500)

        worker.model.script = script
        await worker.store.say("What is it?")
        await worker.work()
        assert await said(worker.store) == [replies.INTERRUPTED]
        assert len(worker.model.calls) == 1


async def test_lost_answers_of_the_store_change_nothing(
    database_url: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = TwiceDatabase(database_url)
    async with opened(database_url, database) as store:
        worker.store = store
        await store.say("What is it?")
        await worker.work(error(500))
        await store.say("", command="stop")
        await worker.work()
        assert await said(store) == [LONGER, replies.INTERRUPTED]
        assert database.differing == []


async def test_the_wait_is_told_in_the_persons_language(worker: Worker) -> None:
    await worker.store.say("Hallo")
    await worker.work(text("Hallo"))
    await worker.store.db.tenants.change({"language": "de"})
    await worker.store.say("Was ist es?")
    await worker.work(error(500))
    assert (await said(worker.store))[-1] not in (LONGER, "Hallo", gettext(LONGER))


@dataclass(slots=True)
class Wordless(RecordingChannel):
    """A channel that shows nothing of the work, as SMS."""

    told_after: float = 0.05
    shows: bool = False

    def unseen(self, to: Address) -> bool:
        return not self.shows


class TestASlowModel:
    async def test_where_nothing_shows_the_work_the_person_is_told_once(self, worker: Worker) -> None:
        worker.config = ReactLoopConfig()
        worker.channels = {"sms": Wordless()}
        await worker.store.say("What is it?")

        async def script(call: ModelCall) -> Reply:
            await eventually(lambda: bool(worker.store.wakeups.deliveries))
            return text("Seven") if len(worker.model.calls) == 2 else text("")

        worker.model.script = script
        await worker.work()
        assert await said(worker.store) == [LONGER, "Seven"]
        assert len(worker.store.wakeups.deliveries) == 2

    @pytest.mark.parametrize("channel", [RecordingChannel(), Wordless(shows=True)], ids=["always", "here"])
    async def test_where_the_work_shows_nothing_is_said(self, worker: Worker, channel: RecordingChannel) -> None:
        worker.config, worker.channels = ReactLoopConfig(), {"sms": channel}
        await worker.store.say("What is it?")
        await worker.work(text("Seven").after(0.3))
        assert await said(worker.store) == ["Seven"]
        assert channel.working
