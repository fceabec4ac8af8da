"""The whole path over every channel: a person says something, a model answers, the person reads it."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from channels.terminal.receive import TerminalChannel
from core.llm.litellm_client import LiteLLMClient
from core.turns.orchestrator import Orchestrator
from jobs.delivery import DeliveryRunner
from jobs.turns import TurnRunner
from notify.terminal.send import TerminalNotification
from tests.contract.canaries import marked
from tests.contract.delivery_harness import Desk
from tests.contract.harness import exempt
from tests.core.harness import Store, opened
from tests.scripted_model import ScriptedModel, echo

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    # litellm 1.106 looks through an answer in a way that pydantic will drop.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

WORDS = {
    "sms": {"NEW": "fresh start", "HALT": "Nothing is running"},
    "slack": {"/valet help": "Ask me anything", "/valet new": "fresh start", "new": "fresh start"},
    "telegram": {"/start": "Hello!", "/help": "Ask me anything", "/new": "fresh start"},
}


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedModel]:
    """Serve a model that repeats what it is told."""
    async with ScriptedModel(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-zqcanary-model-key")
        yield server


@pytest.fixture
async def orchestrator(model: ScriptedModel) -> AsyncIterator[Orchestrator]:
    """Give the real orchestrator before the scripted model."""
    client = LiteLLMClient("openai/scripted")
    await client.warm_up()
    yield Orchestrator(client, "You are a valet.")
    await client.close()


async def work(store: Store, desk_runner: DeliveryRunner, orchestrator: Orchestrator) -> None:
    """Run what waits, then send what is owed."""
    turns = TurnRunner(store.turns, orchestrator, store.bell, {}, store.make_id, "w1")
    while lease := await turns.claim(None):
        await turns.run(lease)
    while claim := await desk_runner.claim(None):
        await desk_runner.run(claim)


async def test_a_person_reads_the_models_answer_and_their_own_words_are_answered(
    desk: Desk, orchestrator: Orchestrator, model: ScriptedModel
) -> None:
    for text in (marked("Lunch on **Friday**?"), marked("and on Saturday")):
        await desk.house.said(text)
        await work(desk.store, desk.runner, orchestrator)
        answer = desk.house.bubbles()[-1].text
        assert answer == f"echo: {text}".replace("**", "**" if desk.house.name == "slack" else "")
    for words, wanted in WORDS[desk.house.name].items():
        await (desk.house.act("command", text=words) if words.startswith("/valet") else desk.house.say(words))
        await desk.house.settled()
        await work(desk.store, desk.runner, orchestrator)
        assert wanted in desk.house.bubbles()[-1].text, words
    assert len(model.calls) == 2, "the person's own words need no model"
    assert set(await desk.store.column("select state from inbound")) == {"done"}
    assert set(await desk.store.column("select state from outbound")) == {"sent"}


@exempt(slack="nobody but us answers for our app in Slack", telegram="nobody but us answers for our bot in Telegram")
async def test_help_gets_one_answer_where_the_carriers_side_answers_it(desk: Desk, orchestrator: Orchestrator) -> None:
    await desk.house.said("HELP")
    await work(desk.store, desk.runner, orchestrator)
    assert len(desk.house.bubbles()) == 1


async def test_the_terminal_is_answered_too(database_url: str, orchestrator: Orchestrator) -> None:
    async with opened(database_url) as store:
        terminal = TerminalChannel(store.inbox, store.database, store.make_id, "ada")
        runner = DeliveryRunner(store.outbox, {"terminal": TerminalNotification()}, "w1")
        shown = []
        for line in (marked("hello"), "/help", "/new", "/start"):
            await terminal.say(line)
            assert await terminal.busy()
            await work(store, runner, orchestrator)
            for part in await terminal.unread():
                shown.append(part.text)
                await terminal.mark_read(part)
            assert not await terminal.busy()
        assert shown[0] == f"echo: {marked('hello')}"
        assert [word in text for word, text in zip(("Ask me", "fresh start", "Hello!"), shown[1:], strict=True)] == [
            True
        ] * 3


async def test_promise_3_what_was_said_while_we_were_away_is_answered(desk: Desk, orchestrator: Orchestrator) -> None:
    await desk.meet()
    await work(desk.store, desk.runner, orchestrator)
    desk.house.sink.failures = 1000
    if desk.house.name == "telegram":
        await desk.house.act("set", held=True)
    await desk.house.say(marked("are you there"))
    if desk.house.name == "telegram":
        desk.house.sink.failures = 0
        await desk.house.act("set", held=False)  # Telegram keeps its own backlog
    await desk.house.settled()
    desk.house.sink.failures = 0
    since = desk.house.simulator.wire.clock.now() - timedelta(minutes=1)
    await desk.house.channel.catch_up(since)
    assert await desk.house.channel.catch_up(since) == 0
    await work(desk.store, desk.runner, orchestrator)
    assert desk.house.bubbles()[-1].text == f"echo: {marked('are you there')}"
    assert await desk.store.one("select count(*) from inbound") == 2
