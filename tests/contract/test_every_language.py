"""Each command of a chat, and what the channels say by themselves, in German and Chinese: no English is left."""

import re
from collections.abc import AsyncIterator

import pytest

from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.inbox.inbox import Inbox
from core.language.catalogue import speaking
from core.messaging.help_text import help_text, where_help_is, words
from core.people.access_policy import Access
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from jobs.delivery.runner import DeliveryRunner
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import EVERYWHERE, HARNESSES, SlackHarness
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.harness import open_harness
from tests.core.harness import opened
from tests.core.language.english import english_in
from tests.eventually import eventually

SPEAKERS = {"lena": "de", "mei": "zh"}
TYPED = {
    "sms": ("new", "halt", "pending", "prefs", "prefs quiet noon", "profile", "link", "unlink", "again 7k"),
    "slack": ("help", "new", "stop", "pending", "prefs", "prefs quiet noon", "profile", "link", "unlink"),
    "telegram": (
        *("/start", "/help", "/new", "/stop", "/pending", "/prefs", "/prefs quiet noon", "/profile", "/link"),
        *("/link ABC-DEF-GH2", "/unlink"),
    ),
}


def sentences_in(text: str, language: str) -> list[str]:
    """Return the parts of English sentences that a text has; words to type are English in every language."""
    return english_in(" ".join(text.split()), language, words=4)


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a system that answers the commands about people."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        store = system.delivery.store
        credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", b"k" * 32)]))
        linking = Linking(store.database, credentials, store.make_id)
        system.people = PersonCommands(linking, People(store.database, store.make_id, system.clock))
        yield system


async def _speaks(system: Approving, person: str) -> None:
    """Let a person write, and take their language as chosen."""
    await system.say("hello", person)
    language = SPEAKERS[person]
    await system.delivery.store.db.tenants.change({"language": language, "language_from": ""})


async def _type(system: Approving, word: str, person: str) -> str:
    """Type a command and return the answer."""
    channel = system.delivery.channel
    before = len(channel.bubbles(person))
    if channel.name == "slack":
        await channel.act("command", person, text=f"/valet {word}")
        await channel.settled()
        await system.work()
    else:
        await system.say(word, person)
    said = channel.bubbles(person)[before:]
    assert said, word
    return "\n".join(bubble.text for bubble in said)


@pytest.mark.parametrize("person", SPEAKERS)
async def test_answer_to_each_command_has_no_english(system: Approving, person: str) -> None:
    await _speaks(system, person)
    answers = {word: await _type(system, word, person) for word in TYPED[system.delivery.channel.name]}
    assert {word: left for word, answer in answers.items() if (left := sentences_in(answer, SPEAKERS[person]))} == {}
    assert len(set(answers.values())) > len(answers) / 2


@pytest.mark.parametrize("language", SPEAKERS.values())
@pytest.mark.parametrize("where", [*EVERYWHERE, "terminal"])
def test_help_and_where_it_is_have_no_english(where: str, language: str) -> None:
    with speaking(language):
        assert sentences_in(f"{help_text(where)}\n{where_help_is(where)}", language) == []
        translated = dict(words(where))
    typed = [word for word, _ in words(where) if not word.startswith("EDIT")]
    assert [word for word in translated if not word.startswith("EDIT")] == typed


@pytest.mark.parametrize("person", SPEAKERS)
async def test_slacks_home_has_no_english(database_url: str, person: str) -> None:
    async with open_approving(SlackHarness, database_url, StandingClock()) as system:
        await _speaks(system, person)
        harness = system.delivery.channel
        await harness.act("open_home", person)
        await eventually(lambda: bool(harness.calls("slack.views.publish")))
        shown = str(harness.calls("slack.views.publish")[-1])
        assert "/valet help" in shown
        assert sentences_in(shown, SPEAKERS[person]) == []


@pytest.mark.parametrize("person", SPEAKERS)
async def test_strangers_are_given_their_code_in_their_language(channel: str, database_url: str, person: str) -> None:
    async with opened(database_url) as store:
        inbox = Inbox(store.database, store.wakeups, store.make_id, Access())
        async with open_harness(HARNESSES[channel], inbox) as harness:
            await harness.said({"de": "Kannst du mir helfen?", "zh": "你能帮我吗"}[SPEAKERS[person]], person)
            runner = DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1")
            await DeliveryHarness(store, harness, runner).deliver()
            (said,) = harness.bubbles(person)
            assert re.search("[2-9A-Z]{4}-[2-9A-Z]{4}", said.text)
            assert sentences_in(said.text, SPEAKERS[person]) == []


def test_english_is_found_where_it_is_left() -> None:
    assert sentences_in(help_text("sms"), "de")
