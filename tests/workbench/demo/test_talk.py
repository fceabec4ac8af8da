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


@pytest.mark.parametrize("word", ["ok", "yes", "go ahead", "no"])
async def test_a_yes_while_two_cards_wait_is_told_what_to_write_for_each(system: Approving, word: str) -> None:
    mails = [("send_mail", {"to": f"{name}@example.com", "subject": "Late"}) for name in ("sam", "bob")]
    demo, system.model = system.model, FakeModel([wants(*mails)])  # type: ignore[arg-type]
    await system.say("mail both")
    system.model = demo
    await told(system, "thanks")
    asked = await told(system, word)
    lines = re.findall(r"Please write OK (\w+) to approve or NO \1 to cancel: send mail \(to: (sam|bob)@", asked)
    named = "select code || ' ' || split_part(arguments->>'to', '@', 1) from approvals"
    assert {" ".join(line) for line in lines} == {*await system.delivery.store.column(named)}, asked
    assert await system.states() == ["pending", "pending"]


TALKS = {
    "de": (
        ("Merk dir, dass ich dienstags rudere", "Gemerkt:"),
        ("Was weißt du über mich?", "Ich rudere dienstags ("),
        ("vergiss, dass ich dienstags rudere", "dienstags"),
        ("ja", "Endgültig vergessen: "),
        ("was weißt du über mich", "Bisher ist nichts gemerkt."),
        ("danke", "Gern geschehen. (Demo-Modell)"),
    ),
    "es": (
        ("Recuerda que remo los martes", "Lo recuerdo:"),
        ("¿Qué sabes de mí?", "Recuerdo:"),
        ("olvida que remo los martes", "martes"),
        ("sí", "Olvidado para siempre: "),
        ("¿qué sabes de mí?", "Todavía no recuerdo nada."),
        ("gracias", "De nada. (modelo de demostración)"),
    ),
    "fr": (
        ("Retiens que j'aime le thé", "Retenu :"),
        ("Que savez-vous de moi ?", "j'aime le thé ("),
        ("oublie que j'aime le thé", "j'aime le thé"),
        ("oui", "Oublié pour de bon : "),
        ("que sais-tu de moi ?", "Rien n'est encore retenu."),
    ),
    "pt": (
        ("Lembre-se de que gosto de chá", "Guardado na memória:"),
        ("O que sabe sobre mim?", "gosto de chá ("),
        ("esqueça que gosto de chá", "gosto de chá"),
        ("sim", "Esquecido de vez: "),
        ("o que sabe sobre mim?", "Ainda não há nada na memória."),
    ),
    "zh": (
        ("记住我很喜欢喝绿茶", "已记住："),
        ("你知道我什么？", "我很喜欢喝绿茶"),
        ("忘记我很喜欢喝绿茶", "我很喜欢喝绿茶"),
        ("好", "已彻底忘记："),
        ("你知道我什么？", "还没有记住任何内容。"),
    ),
}


@pytest.mark.parametrize("language", TALKS)
async def test_the_demo_model_talks_in_the_persons_language(system: Approving, language: str) -> None:
    await told(system, "hello")
    await system.delivery.store.db.tenants.change({"language": language, "language_from": ""})
    for said, answer in TALKS[language]:
        assert answer in await told(system, said), said
