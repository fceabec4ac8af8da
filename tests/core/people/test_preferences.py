"""What people prefer: exact commands and the model's tool, one wording, checked before it is kept."""

from dataclasses import replace
from datetime import time

import pytest

from agents.person import set_preference, show_preferences
from core.errors import ToolRetry
from core.messaging.messages import SenderProfile
from core.people.people import People
from core.people.preferences import PreferenceRefused, Preferences, find_timezone, read_preference, written
from core.people.tenant import QuietHours, WhileRunning
from core.turns.prompt import context_message
from tests.core.builders import a_context
from tests.core.people.harness import CHAT, DESK, PHONE, Harness

ANN = "+15550000001"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("timezone", "Lisbon", {"timezone": "Europe/Lisbon"}),
        ("timezone", "new york", {"timezone": "America/New_York"}),
        ("Timezone", "europe/lisbon", {"timezone": "Europe/Lisbon"}),
        ("timezone", "UTC", {"timezone": "UTC"}),
        ("language", "Portuguese", {"language": "pt"}),
        ("language", "pt-BR", {"language": "pt-BR"}),
        ("quiet", "10pm to 7:30 am", {"quiet_from": "22:00", "quiet_until": "07:30"}),
        ("quiet", "from 22 until 6", {"quiet_from": "22:00", "quiet_until": "06:00"}),
        ("quiet", "off", {"quiet_from": "", "quiet_until": ""}),
        ("busy", "Queue", {"while_running": "queue"}),
        ("mute", "Price, the weather and price", {"muted": "price,the weather"}),
        ("mute", "Everything", {"muted": "*"}),
        ("mute", "off", {"muted": ""}),
        ("channel", "text", {"preferred_channel": "sms"}),
        ("name", "  Ann   Lee ", {"name": "Ann Lee"}),
    ],
)
def test_words_become_what_is_kept(name: str, value: str, kept: dict[str, str]) -> None:
    assert read_preference(name, value, ("sms", "telegram")) == kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timezone", "Mars/Olympus"),
        ("timezone", "../../etc/passwd"),
        ("language", "the one I speak"),
        ("quiet", "25:00-07:00"),
        ("quiet", "22:00-22:00"),
        ("quiet", "13pm-2"),
        ("busy", "shout"),
        ("mute", "x" * 41),
        ("mute", "a;b"),
        ("channel", "slack"),
        ("colour", "blue"),
        ("name", "x" * 81),
    ],
)
def test_what_cannot_be_kept_is_refused_in_a_sentence(name: str, value: str) -> None:
    with pytest.raises(PreferenceRefused):
        read_preference(name, value, ("sms",))


def test_quiet_hours_may_pass_midnight() -> None:
    night, noon = QuietHours(time(22), time(7)), QuietHours(time(12), time(13))
    assert [night.covers(time(hour)) for hour in (21, 22, 3, 7)] == [False, True, True, False]
    assert [noon.covers(time(hour)) for hour in (11, 12, 13)] == [False, True, False]
    assert find_timezone("St Johns") == "America/St_Johns"


@pytest.mark.parametrize(
    ("city", "zone"),
    [
        ("Lissabon", "Europe/Lisbon"),
        ("lisboa", "Europe/Lisbon"),
        ("Lisbonne", "Europe/Lisbon"),
        ("里斯本", "Europe/Lisbon"),
        ("Tóquio", "Asia/Tokyo"),
        ("Tokio", "Asia/Tokyo"),
        ("toquio", "Asia/Tokyo"),
        ("Wien", "Europe/Vienna"),
        ("Nueva York", "America/New_York"),
        ("nova iorque", "America/New_York"),
        ("São Paulo", "America/Sao_Paulo"),
        ("Kolkata", "Asia/Kolkata"),
    ],
)
def test_a_city_is_known_by_its_name_in_each_language(city: str, zone: str) -> None:
    assert find_timezone(city) == zone


async def test_commands_set_what_the_next_turn_is_given(harness: Harness) -> None:
    assert "timezone: not set" in await harness.ask("PREFS", ANN)
    assert await harness.ask("prefs timezone Lisbon", ANN) == "timezone: Europe/Lisbon", "one line, one text message"
    assert "I know no such timezone" in await harness.ask("PREFS timezone Nowhere", ANN)
    assert "busy: interrupt (what you write meanwhile starts the answer over)" in await harness.ask(
        "PREFS busy interrupt", ANN
    )
    assert "quiet: 22:00-07:00" in await harness.ask("/prefs quiet 10pm-7am", ANN)
    assert "mute: price, weather" in await harness.ask("PREFS mute weather and price", ANN)
    assert "mute: not set" in await harness.ask("PREFS mute off", ANN)
    await harness.say("hello", ANN)
    lease, turn = await harness.store.claim_turn()
    request = turn.request
    assert (request.work.while_running, request.tenant.timezone) == (WhileRunning.INTERRUPT, "Europe/Lisbon")
    assert not await harness.preferences.needs_timezone(lease.tenant_id)
    await harness.store.finish(lease, turn)
    await harness.say("hello", "+15550000002")
    _, turn = await harness.store.claim_turn()
    assert not turn.request.tenant.timezone_known
    assert "ask for it" in context_message(turn.request.tenant, harness.clock.now()).text


async def test_the_models_tool_keeps_the_same_and_is_told_what_is_wrong(harness: Harness) -> None:
    await harness.ask("hello", ANN)
    tenant = await harness.tenant(ANN)
    people = People(harness.store.database, harness.store.make_id, harness.clock)
    context = replace(a_context(tenant_id=tenant), person=people.for_turn(tenant, "turn"))
    assert await context.person.needs_timezone()
    assert "channel: sms" in str(await set_preference(name="channel", value="SMS", context=context))
    with pytest.raises(ToolRetry, match="I can on sms"):
        await set_preference(name="channel", value="slack", context=context)
    assert "channel: sms" in str(await show_preferences(context=context))
    assert await harness.store.db.person_audit.count(what="preference") == 1


async def test_slacks_profile_fills_unset_preferences_and_survives_linking(harness: Harness) -> None:
    await harness.ask("hello", "U1", DESK)
    await harness.ask("PREFS name Ann", "U1", DESK)
    inbox = harness.store.inbox
    assert not (await inbox.accept(SenderProfile(*DESK, "U1", "Ada Lovelace", "Asia/Tokyo"))).duplicate
    assert (await inbox.accept(SenderProfile(*DESK, "u1", "Another", "Asia/Seoul"))).duplicate
    known = await harness.preferences.read(await harness.tenant("U1", DESK))
    assert (known.name, known.timezone) == ("Ann", "Asia/Tokyo")
    code = await harness.code("U1", DESK)
    await harness.settle()
    await harness.link(code, ANN)
    known = await harness.preferences.read(await harness.tenant(ANN, PHONE))
    assert (known.name, known.timezone, known.channels) == ("Ann", "Asia/Tokyo", ("slack", "sms"))
    assert await harness.tenant("7", CHAT) == ""


def test_preferences_are_told_in_the_language_that_was_just_set() -> None:
    told = written(Preferences(name="Ann", language="de", timezone="Europe/Berlin"))
    assert told.splitlines()[:4] == [
        "Name: Ann",
        "Sprache: de",
        "Zeitzone: Europe/Berlin",
        "Kanal: nicht gesetzt",
    ]
    assert written(Preferences(language="en")).splitlines()[3] == "channel: not set"
