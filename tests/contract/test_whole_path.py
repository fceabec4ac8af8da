"""The whole path over every channel: a person says something, a model answers, the person reads it."""

from datetime import timedelta

import pytest

from channels.terminal.receive import TerminalChannel
from core.messaging.help_text import words as help_words
from core.turns.orchestrator import Orchestrator
from jobs.delivery.runner import DeliveryRunner
from notify.terminal.send import TerminalNotification
from tests.contract.canaries import marked
from tests.contract.delivery_harness import DeliveryHarness, work
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import exempt
from tests.core.harness import opened
from tests.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    # litellm 1.106 looks through an answer in a way that pydantic will drop.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

WORDS = {
    "sms": {"NEW": "fresh start", "HALT": "Nothing is running"},
    "slack": {"/valet help": "Ask me anything", "/valet new": "fresh start", "new": "fresh start"},
    "telegram": {"/start": "Hello!", "/help": "Ask me anything", "/new": "fresh start"},
    "email": {"NEW": "fresh start", "Help": "Ask me anything", "HALT": "Nothing is running"},
}


@also_by_mail
async def test_a_person_reads_the_models_answer_and_their_own_words_are_answered(
    delivery: DeliveryHarness, orchestrator: Orchestrator, model: ScriptedModel
) -> None:
    for text in (marked("Lunch on **Friday**?"), marked("and on Saturday")):
        await delivery.channel.said(text)
        await work(delivery.store, delivery.runner, orchestrator)
        answer = delivery.channel.bubbles()[-1].text
        assert answer == f"echo: {text}".replace("**", "**" if delivery.channel.name == "slack" else "")
    for words, wanted in WORDS[delivery.channel.name].items():
        await (
            delivery.channel.act("command", text=words) if words.startswith("/valet") else delivery.channel.say(words)
        )
        await delivery.channel.settled()
        await work(delivery.store, delivery.runner, orchestrator)
        assert wanted in delivery.channel.bubbles()[-1].text, words
    assert len(model.calls) == 2, "the person's own words need no model"
    assert set(await delivery.store.db.inbound.column("state")) == {"done"}
    assert set(await delivery.store.db.outbound.column("state")) == {"sent"}


@also_by_mail
async def test_help_lists_the_words_one_a_line(delivery: DeliveryHarness, orchestrator: Orchestrator) -> None:
    name = delivery.channel.name
    if name == "slack":
        await delivery.meet()
        await delivery.channel.act("command", text="/valet help")
    else:
        await delivery.channel.said({"sms": "help!", "telegram": "/help", "email": "help!"}[name])
    await delivery.channel.settled()
    await work(delivery.store, delivery.runner, orchestrator)
    shown = delivery.channel.bubbles()[-1].text.splitlines()
    for word, what in help_words(name):
        assert [line for line in shown if word.strip("`") in line and line.endswith(f": {what}")], word


@exempt(slack="nobody but us answers for our app in Slack", telegram="nobody but us answers for our bot in Telegram")
async def test_help_gets_one_answer_where_the_carriers_side_answers_it(
    delivery: DeliveryHarness, orchestrator: Orchestrator
) -> None:
    await delivery.channel.said("HELP")
    await work(delivery.store, delivery.runner, orchestrator)
    assert len(delivery.channel.bubbles()) == 1


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


async def test_promise_3_what_was_said_while_we_were_away_is_answered(
    delivery: DeliveryHarness, orchestrator: Orchestrator
) -> None:
    await delivery.meet()
    await work(delivery.store, delivery.runner, orchestrator)
    delivery.channel.sink.failures = 1000
    if delivery.channel.name == "telegram":
        await delivery.channel.act("set", held=True)
    await delivery.channel.say(marked("are you there"))
    if delivery.channel.name == "telegram":
        delivery.channel.sink.failures = 0
        await delivery.channel.act("set", held=False)  # Telegram keeps its own backlog
    await delivery.channel.settled()
    delivery.channel.sink.failures = 0
    since = delivery.channel.simulator.wire.clock.now() - timedelta(minutes=1)
    await delivery.channel.channel.catch_up(since)
    assert await delivery.channel.channel.catch_up(since) == 0
    await work(delivery.store, delivery.runner, orchestrator)
    assert delivery.channel.bubbles()[-1].text == f"echo: {marked('are you there')}"
    assert await delivery.store.db.inbound.count() == 2
