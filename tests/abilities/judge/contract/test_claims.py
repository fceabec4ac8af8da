"""Answers that claim an act, on every channel: the person reads what is true, or that it is not done."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from abilities.judge.checks import CheckingJudge
from abilities.judge.claims.judge import ASKED_AGAIN, MARKED, NOT_YET, Claims
from core.json_types import JsonObject
from core.tools.tool import AnyTool, tool
from core.turns.orchestrator import Orchestrator
from jobs.turns.runner import TurnRunner
from onevalet.cli.trace import print_trace
from onevalet.settings import Settings
from operations.paths.turn_path import read_path
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import exempt
from tests.contract.test_previews import HalfWriter, in_thread, only_the_last, seen, texts
from tests.core.builders import FakeModel, Step, says, wants
from tests.eventually import eventually

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}
ASKED, CLAIM, TRUE = "Email Sam about lunch", "I've emailed Sam about lunch.", "I have not written to Sam: may I?"


def judge() -> CheckingJudge:
    return CheckingJudge(2, 3, Claims())


@tool(name="text_ann", effect="once")
async def text_ann() -> str:
    """Text Ann."""
    return "Texted."


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system with the judge, on an empty database."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.options = {"hooks": [judge()]}
        more: list[AnyTool] = [text_ann]
        system.more += more
        yield system


def scripted(system: Approving, *steps: Step) -> FakeModel:
    system.model = model = FakeModel(list(steps))
    return model


@also_by_mail
async def test_a_claim_is_asked_again_and_the_person_reads_the_true_answer(system: Approving) -> None:
    model = scripted(system, says(CLAIM), says(TRUE))
    await system.say(ASKED)
    assert [bubble.text for bubble in system.delivery.channel.bubbles()] == [TRUE]
    assert len(model.requests) == 2


@also_by_mail
async def test_a_claim_that_is_repeated_is_marked_below(system: Approving) -> None:
    model = scripted(system, says(CLAIM), says(CLAIM))
    await system.say(ASKED)
    assert system.last() == f"{CLAIM}\n\n{NOT_YET}"
    assert len(model.requests) == 2


@also_by_mail
async def test_a_call_made_when_asked_again_needs_its_consent_and_makes_it_true(system: Approving) -> None:
    model = scripted(system, says(CLAIM), wants(("send_mail", MAIL)), says(CLAIM))
    await system.say(ASKED)
    assert system.sent == []
    await system.decide("Approve")
    assert system.sent == [MAIL]
    assert system.last() == CLAIM
    assert len(model.requests) == 3


@also_by_mail
async def test_what_was_approved_and_done_is_not_asked_again(system: Approving) -> None:
    model = scripted(system, wants(("send_mail", MAIL)), says(CLAIM))
    await system.say(ASKED)
    await system.decide("Approve")
    assert system.last() == CLAIM
    assert len(model.requests) == 2


async def test_what_the_person_cancelled_is_not_said_to_be_done(system: Approving) -> None:
    model = scripted(system, wants(("send_mail", MAIL)), says(CLAIM), says(CLAIM))
    await system.say(ASKED)
    await system.decide("Cancel")
    assert system.sent == []
    assert system.last() == f"{CLAIM}\n\n{NOT_YET}"
    assert len(model.requests) == 3


async def test_an_act_before_a_card_counts_when_the_turn_goes_on(system: Approving) -> None:
    said = "I texted Ann. The mail to Sam stays unsent, as you wished."
    model = scripted(system, wants(("text_ann", {})), wants(("send_mail", MAIL)), says(said))
    await system.say("Text Ann, and email Sam about lunch")
    await system.decide("Cancel")
    assert system.last() == said
    assert len(model.requests) == 3


async def test_trace_and_console_show_that_it_was_asked_again_and_marked(
    system: Approving, database_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    scripted(system, says(CLAIM), says(CLAIM))
    await system.say(ASKED)
    store = system.delivery.store
    turn, tenant = str(await store.db.turns.one("id")), await store.db.person()
    await print_trace(Settings(_env_file=None, database_url=SecretStr(database_url)), turn, as_json=False)
    lines = capfd.readouterr().out.splitlines()
    assert [sum(f"name={name}" in line for line in lines) for name in (ASKED_AGAIN, MARKED)] == [1, 1], lines
    async with store.database.tenant(tenant) as connection:
        titles = [span.title for span in (await read_path(connection, tenant, turn)).spans]
    assert [title for title in titles if title.startswith("Judge")] == [f"Judge {ASKED_AGAIN}", f"Judge {MARKED}"]


@exempt(sms="a text is sent whole")
async def test_a_claim_seen_while_it_was_written_does_not_stay(system: Approving) -> None:
    long = marked(f"{CLAIM} She will find the time and the place in it, and the question whether Friday suits her")
    model = HalfWriter([says(long), says(marked(TRUE))])
    delivery, channel = system.delivery, system.delivery.channel
    await in_thread(channel, marked(ASKED))
    await only_the_last(delivery)
    for pace in ("stream_every", "draft_every"):
        if hasattr(channel.sender, pace):
            setattr(channel.sender, pace, 0.01)
    store, orchestrator = delivery.store, Orchestrator(model, hooks=[judge()])
    runner = TurnRunner(store.turns, orchestrator, store.wakeups, {channel.name: channel.sender}, store.make_id, "w1")
    lease = await runner.claim(None)
    assert lease is not None
    running = asyncio.ensure_future(runner.run(lease))
    await eventually(lambda: CLAIM in seen(channel))
    model.gate.set()
    await running
    await delivery.deliver()
    assert texts(channel) == [marked(TRUE)]
    assert seen(channel) == ""
