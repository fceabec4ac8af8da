"""A talk with the demo model by SMS: what every card and the page's help say can be done, done in words."""

import re
from collections.abc import AsyncIterator

import pytest

from abilities.memory import tools
from abilities.memory.momex import Momex
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.memory.harness import make_momex
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import FakeModel, says, wants
from workbench.demo.model import DEMO_MODEL


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield a system with a memory, answered by the demo model."""
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        momex = make_momex(system.delivery.store.database)
        system.model, system.options = client, {"momex": momex}
        system.more = [tools.remember, tools.list_memories, tools.search_memory, tools.ask_to_forget, tools.forget]
        yield system
        await momex.close()
    await client.close()


async def told(system: Approving, text: str) -> str:
    """Say something, let memory's jobs run, and return the answer."""
    await system.say(text)
    momex: Momex = system.options["momex"]
    while job := await momex.work.claim(None, "w"):
        await momex.work.run(job)
    return system.last()


async def test_the_demo_model_remembers_recalls_and_forgets_in_words(system: Approving) -> None:
    assert "I row on Tuesdays" in await told(system, "Remember that I row on Tuesdays")
    listed = await told(system, "What do you know about me?")
    assert listed.startswith("I remember:\n")
    assert "I row on Tuesdays" in listed
    assert "Tuesdays" in await told(system, "do you know when I row?")
    card = await told(system, "forget that I row on Tuesdays")
    assert card.startswith(f"{await system.code()}: Forget for good\n\n")
    assert re.search(r'^Memories: "\d+\. I row on Tuesdays \(.*, you told me\)"$', card, re.MULTILINE)
    code = await system.code()
    before = len(system.delivery.channel.bubbles())
    assert await told(system, f"NO {code}") == f"Cancelled {code}: Forget for good."
    assert len(system.delivery.channel.bubbles()) == before + 1, "one message says it"
    assert await system.delivery.store.column("select reason from turns where reason <> ''") == ["cancelled"]
    listed = await told(system, "what do you know about me")
    assert "I row on Tuesdays" in listed
    assert "let that go" not in listed
    await told(system, "forget that I row on Tuesdays")
    assert "Forgotten for good: " in await told(system, f"OK {await system.code()}")
    assert "Tuesdays" not in await told(system, "what do you know about me?")


async def test_the_demo_model_edits_a_card_in_words(system: Approving) -> None:
    demo, system.model = (
        system.model,
        FakeModel([wants(("send_mail", {"to": "sam@example.com", "subject": "Late"})), says("Done.")]),
    )
    await system.say("mail sam")
    code, system.model = await system.code(), demo
    await told(system, f"EDIT {code} subject: Half an hour late")
    assert "Subject: Late -> Half an hour late" in system.last()
    await told(system, f"OK {await system.code()}")
    assert [mail["subject"] for mail in system.sent] == ["Half an hour late"]
