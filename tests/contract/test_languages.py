"""What the product says by itself, in the language of its person, over every channel."""

from collections.abc import AsyncIterator

import pytest

from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.errors import ModelUnavailable
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel

SAID = {
    "de": ("Ich kann mein Sprachmodell", "Ich weiß noch nichts über dich."),
    "es": ("Ahora mismo no puedo conectar", "Todavía no sé nada de ti."),
    "fr": ("Je n'arrive pas à joindre", "Je ne sais encore rien de vous."),
    "pt": ("Não consigo contactar", "Ainda não sei nada sobre si."),
    "zh": ("我现在无法连接语言模型", "我还不了解你。"),
}
PROFILE = {"sms": "PROFILE", "slack": "/valet profile", "telegram": "/profile"}


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a system that answers the commands about people."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        store = system.delivery.store
        credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", b"k" * 32)]))
        linking = Linking(store.database, credentials, store.make_id)
        system.people = PersonCommands(linking, People(store.database, store.make_id, system.clock))
        yield system


async def test_what_a_model_does_not_say_is_said_in_the_persons_language(system: Approving) -> None:
    await system.say("hello")
    for language, (model_down, nothing_known) in SAID.items():
        await system.delivery.store.db.tenants.change({"language": language, "language_from": ""})
        system.model = FakeModel([ModelUnavailable("away")] * 9)
        await system.say(f"hello in {language}")
        assert system.last().startswith(model_down)
        await _command(system, PROFILE[system.delivery.channel.name])
        assert system.last() == nothing_known


async def _command(system: Approving, word: str) -> None:
    if not word.startswith("/valet"):
        await system.say(word)
        return
    await system.delivery.channel.act("command", text=word)
    await system.delivery.channel.settled()
    await system.work()
