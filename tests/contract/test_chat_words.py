"""Each chat word on each channel: its room answers it without a model; without that room it is a plain text."""

from collections.abc import AsyncIterator

import pytest

from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.messaging.chat_reader import chat_words
from core.messaging.help_text import as_typed
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from operations.console.sign_in import ConsoleSignIn
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says
from tests.core.messaging.planted_words import TALLY, planted

ASSISTANT = "The assistant read it."
WITHOUT_A_ROOM = {
    "memory", "connect", "accounts", "disconnect", "household", "groups", "followups", "mcp", "export", "forget",
    "receipts",
}  # fmt: skip
"""Their rooms are not in the system of this test."""
WITHOUT_A_CAUSE = {"withdraw", "listen", "more", "thanks"}
"""Words like any other where nothing was consented to, no recording failed, nothing is kept of a long text, and nobody
has turned them on."""


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a system in which an ability declares one more word."""
    with planted(TALLY):
        async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
            store, keys = system.delivery.store, SecretKeys([SecretKey("k", b"k" * 32)])
            linking = Linking(store.database, CredentialStore(store.database, keys), store.make_id)
            system.people = PersonCommands(linking, People(store.database, store.make_id, system.clock))
            system.console = ConsoleSignIn(store.database, "https://valet.example.com", keys)
            yield system


async def typed(system: Approving, word: str) -> str:
    """Type a command as the channel has it; return what is said."""
    channel = system.delivery.channel
    before = len(channel.bubbles())
    if channel.name == "slack":
        await channel.act("command", text=f"/valet {word}")
        await channel.settled()
        await system.work()
    else:
        await system.say(f"/{word}" if channel.name == "telegram" else word)
    return "\n".join(bubble.text for bubble in channel.bubbles()[before:])


async def test_each_word_is_answered_by_its_room_or_read_by_the_assistant(system: Approving) -> None:
    system.model = FakeModel([says(ASSISTANT) for _ in range(2 * len(chat_words().commands))])
    await system.say("hello")
    by_assistant, unsaid = set[str](), set[str]()
    for command in chat_words().commands:
        if system.delivery.channel.name == "sms" and command.name in ("stop", "start"):
            continue  # the carrier's
        word = "again 7K" if command.needs_argument else next(iter(command))
        answer = await typed(system, word)
        by_assistant |= {command.name} if ASSISTANT in answer else set()
        unsaid |= set() if answer else {command.name}
    assert unsaid == set()
    assert by_assistant == WITHOUT_A_ROOM | WITHOUT_A_CAUSE


async def test_a_new_word_takes_one_declaration(system: Approving) -> None:
    system.model = FakeModel([says(ASSISTANT)])
    await system.say("hello")
    name = system.delivery.channel.name
    assert await typed(system, "tally") == "Counted three"
    assert await typed(system, "strichliste of cups") == "Counted three of cups"
    listed = await typed(system, "help!" if name == "sms" else "help")
    assert as_typed(TALLY, name) in listed
    assert TALLY.help in listed
    assert len(system.model.requests) == 1, "the greeting's"
