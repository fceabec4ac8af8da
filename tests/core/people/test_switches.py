"""Preferences that abilities bring: set, listed, taken back and kept as the others are."""

from collections.abc import Iterator

import pytest

from core.errors import ConfigError
from core.language.catalogue import LANGUAGES, gettext, speaking
from core.messaging.chat_reader import chat_words
from core.messaging.messages import Command
from core.people.chat_words import preference_of
from core.people.preferences import PreferenceRefused, label_of, read_preference
from core.people.switches import OFF, ON, Switch, switches, use_switches
from operations.console.preference_form import changes_of, preference_fields
from tests.core.people.harness import Harness

ANN = "+15550000001"


@pytest.fixture
def planted() -> Iterator[None]:
    """Have one switch for the length of a test."""
    there = tuple(switches().values())
    use_switches([*there, Switch("humming", ("summen",), "It hums")])
    yield
    use_switches(there)


@pytest.mark.usefixtures("planted")
async def test_a_switch_is_off_until_it_is_turned_on_and_is_listed(harness: Harness) -> None:
    assert "humming: turned off" in await harness.ask("PREFS", ANN)
    assert await harness.ask("PREFS humming on", ANN) == "humming: turned on"
    assert await harness.ask("prefs summen on", ANN) == "humming: turned on"
    known = await harness.preferences.read(await harness.tenant(ANN))
    assert known.on == ("humming",)
    assert await harness.ask("PREFS humming off", ANN) == "humming: turned off"
    assert "Write on or off." in await harness.ask("/prefs humming loudly", ANN)


@pytest.mark.usefixtures("planted")
async def test_a_switch_stands_in_the_consoles_form(harness: Harness) -> None:
    await harness.ask("PREFS humming on", ANN)
    known = await harness.preferences.read(await harness.tenant(ANN))
    (field,) = (field for field in preference_fields(known) if field.name == "humming")
    assert (field.label, field.value, field.choices) == ("It hums", "on", (("", "off"), ("on", "on")))
    assert changes_of(known, {"prefer.humming": ""}) == ({"humming": ""}, {})


def test_each_switch_is_set_by_its_word_in_each_language() -> None:
    for switch in switches().values():
        for language in LANGUAGES:
            with speaking(language):
                word, on, off = label_of(switch.name), gettext("turned on"), gettext("turned off")
            assert preference_of(f"{word} {on}") == (switch.name, on), language
            assert chat_words().read(f"prefs {word} {on}", "sms") == Command("prefs", f"{word} {on}")
            assert on in ON
            assert off in OFF


def test_what_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(PreferenceRefused, match=r"^Write on or off\.$"):
        read_preference(next(iter(switches())), "perhaps", ())


def test_two_switches_of_a_name_are_refused() -> None:
    there = tuple(switches().values())
    with pytest.raises(ConfigError, match="Two preferences are named 'a'"):
        use_switches([Switch("a", (), ""), Switch("a", (), "another")])
    use_switches(there)
