"""The language of a person who has not chosen one: as their channel tells it, or as they told it of themselves."""

from collections.abc import AsyncIterator

import pytest

from core.people.preferences import PreferenceStore
from core.people.profile import FactSource, ProfileStore
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import exempt
from tests.core.builders import says, wants
from tests.core.language.english import english_in
from tests.eventually import eventually

TELLS_NONE = {"sms": "Twilio tells no language of a sender"}


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        yield system


async def _known(system: Approving) -> tuple[str | None, str | None]:
    store = system.delivery.store
    tenant_id = await store.db.person()
    known = await PreferenceStore(store.database).read(tenant_id)
    return known.language, known.language_from


async def _prefer(system: Approving, language: str) -> None:
    store = system.delivery.store
    await PreferenceStore(store.database).set(await store.db.person(), "language", language)


async def _tell(system: Approving, fact: str) -> int:
    """Keep as a fact what the person said of their language."""
    store = system.delivery.store
    profile = ProfileStore(store.database, store.make_id)
    tenant_id = await store.db.person()
    number = await profile.keep(tenant_id, "language", fact, FactSource.TOLD, "turn", system.clock.now())
    assert number is not None
    return number


async def _until_found(system: Approving, person: str) -> None:
    """Let a person write, and wait for what the channel tells of them."""
    await system.say("hello", person)

    async def language() -> str | None:
        return (await _known(system))[0]

    await eventually(language, "a language")


@exempt(**TELLS_NONE)
@pytest.mark.parametrize(
    ("person", "slack", "telegram"), [("lena", "de-DE", "de"), ("mei", "zh-CN", "zh-Hans"), ("ada", "en-GB", "en")]
)
async def test_language_is_found_as_the_channel_tells_it(
    system: Approving, person: str, slack: str, telegram: str
) -> None:
    await _until_found(system, person)
    name = system.delivery.channel.name
    assert await _known(system) == ({"slack": slack, "telegram": telegram}[name], name)


@exempt(**TELLS_NONE)
async def test_chosen_language_wins_over_a_found_one(system: Approving) -> None:
    await _until_found(system, "lena")
    await _prefer(system, "French")
    await system.say("bonjour", "lena")
    await _tell(system, "Spanish")
    assert await _known(system) == ("fr", None)


@exempt(**TELLS_NONE)
async def test_language_is_found_again_when_the_choice_is_taken_back(system: Approving) -> None:
    await _until_found(system, "lena")
    await _prefer(system, "French")
    await _prefer(system, "off")
    name = system.delivery.channel.name
    # Slack is asked once an hour, so what it told is kept; Telegram tells it with each message.
    assert await _known(system) == {"slack": ("de-DE", "slack"), "telegram": (None, None)}[name]
    await system.say("hello", "lena")
    assert await _known(system) == {"slack": ("de-DE", "slack"), "telegram": ("de", "telegram")}[name]


async def test_language_that_the_person_told_comes_before_the_channels(system: Approving) -> None:
    await system.say("hello", "ada")
    if system.delivery.channel.name not in TELLS_NONE:
        await _until_found(system, "ada")
    number = await _tell(system, "Deutsch")
    await system.say("hello again", "ada")
    assert await _known(system) == ("de", "profile")
    store = system.delivery.store
    tenant_id = await store.db.person()
    await ProfileStore(store.database, store.make_id).undo(tenant_id, number, system.clock.now(), "call")
    assert await _known(system) == (None, None)


@pytest.mark.parametrize(
    ("person", "said", "language", "fresh"),
    [
        ("lena", "Kannst du mir bitte helfen?", "de", "Ein neuer Anfang."),
        ("mei", "你能帮我订一张机票吗", "zh", "重新开始。"),
        ("ada", "¿Qué tiempo hace en Madrid?", "es", "Empezamos de nuevo."),
    ],
)
async def test_language_that_sms_does_not_tell_is_that_of_the_words(
    database_url: str, person: str, said: str, language: str, fresh: str
) -> None:
    async with open_approving(HARNESSES["sms"], database_url, StandingClock()) as system:
        await system.say("hello there, can you help me?", person)
        assert await _known(system) == (None, None), "English is said anyway"
        await system.say(said, person)
        assert await _known(system) == (language, "sms")
        await system.say("77", person)
        await system.say("NEW", person)
        assert system.delivery.channel.bubbles(person)[-1].text.startswith(fresh)
        await system.say("what can you do for me?", person)
        assert await _known(system) == ("en", "sms")


async def test_what_is_told_or_chosen_comes_before_the_words(database_url: str) -> None:
    async with open_approving(HARNESSES["sms"], database_url, StandingClock()) as system:
        await system.say("Kannst du mir bitte helfen?", "lena")
        await _tell(system, "French")
        await system.say("Kannst du mir bitte helfen?", "lena")
        assert await _known(system) == ("fr", "profile")
        await _prefer(system, "Spanish")
        await system.say("Kannst du mir bitte helfen?", "lena")
        assert await _known(system) == ("es", None)


TOOL = "send mail"
"""What the tool of these tests is called: no catalogue of the product has it."""


async def test_a_card_follows_the_words_where_no_language_is_told(database_url: str) -> None:
    async with open_approving(HARNESSES["sms"], database_url, StandingClock()) as system:
        system.model.script = [wants(("send_mail", {"to": "s@example.com", "subject": "77"}))]
        await system.say("Schreib bitte eine Mail an Sam", "lena")
        card = system.delivery.channel.bubbles("lena")[-1].text
        assert f"OK {await system.code()}" in card
        assert english_in(card.replace(TOOL, ""), "de") == []
        system.model.script = [says("77!")]
        await system.say(f"NO {await system.code()}", "lena")
        decided = "\n".join(bubble.text for bubble in system.delivery.channel.bubbles("lena")[1:])
        assert english_in(decided.replace(TOOL, ""), "de") == []
