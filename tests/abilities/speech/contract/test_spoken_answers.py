"""Answers by voice over every channel: after the text, once, and only what is for the ear."""

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest

from abilities.speech.chat_words import SILENT
from agents.person import set_preference
from core.budgets.store import DailyBudgets
from core.errors import ModelUnavailable
from core.language.catalogue import LANGUAGES, gettext, speaking
from notify.sms.gsm import fold
from onevalet.settings import load_settings
from onevalet.wiring.people import build_people, build_person_commands
from operations.paths.trace import trace
from tests.abilities.speech.harness import SECONDS, Listener, open_listener, services_of, sounds
from tests.contract.harness import exempt
from tests.core.builders import FakeModel, says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.core.harness import TwiceDatabase
from workbench.simulator.base import OpenedFile

ANSWER = "The **dentist** is at nine. Bring your _glasses_."
HEARD = "The dentist is at nine. Bring your glasses."
TYPES = {"telegram": "audio/ogg", "slack": "audio/mpeg", "sms": "audio/mpeg"}


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
async def listener(channel: str, database_url: str, tmp_path: Path) -> AsyncIterator[Listener]:
    async with open_listener(channel, database_url, tmp_path / "files") as listener:
        yield listener


async def test_a_voice_note_is_answered_by_text_and_then_by_voice(listener: Listener, channel: str) -> None:
    await listener.wants_voice()
    text, sound = await listener.records("1", says(ANSWER))
    assert "dentist" in str(text)
    assert isinstance(sound, OpenedFile)
    assert sound.content_type == TYPES[channel]
    assert listener.mouth
    assert listener.mouth.said == [(HEARD, "opus" if channel == "telegram" else "mp3")]
    assert await listener.ends() == [("spoken", "")]


@exempt(slack="its files are all of one kind", sms="its files are all of one kind")
async def test_telegram_gets_a_voice_note(listener: Listener) -> None:
    await listener.wants_voice()
    await listener.records("1", says(ANSWER))
    state = listener.channel.simulator.providers["telegram"].state()
    assert state["people"]["ada"]["messages"][-1]["media"]["kind"] == "voice"


async def test_nothing_is_spoken_that_nobody_wants_to_hear(listener: Listener) -> None:
    await listener.records("1", says(ANSWER))
    await listener.wants_voice()
    await listener.says("And tomorrow?", says("Nothing."))
    assert (await listener.ends(), sounds(listener.outlet.got())) == ([], [])


@pytest.mark.parametrize("word", ["Say it aloud.", "lies es vor", "Dilo en voz alta!"])
async def test_a_word_has_the_last_answer_spoken(listener: Listener, word: str) -> None:
    await listener.says("What is on today?", says(ANSWER))
    (sound,) = await listener.says(word)
    assert isinstance(sound, OpenedFile)
    assert listener.mouth
    assert [text for text, _ in listener.mouth.said] == [HEARD]
    (again,) = await listener.says(word)
    assert again == "I have said that aloud already: it is above."
    assert len(listener.mouth.said) == 1


async def test_a_request_beside_another_has_its_own_answer_spoken(listener: Listener) -> None:
    got = await listener.says("What is on today? I am driving.", wants(("say_aloud", {})), says(ANSWER))
    assert [type(one) for one in got] == [str, OpenedFile]
    (told,) = listener.outlet.system.model.told()
    assert "recording" in told


async def test_a_word_before_any_answer_or_without_a_model_says_so(listener: Listener) -> None:
    assert await listener.says("say it aloud") == ["There is no answer yet that I could say aloud."]
    listener.outlet.system.options["services"] = services_of(listener.store, speaks=False)
    assert await listener.says("say it aloud") == ["I cannot speak yet: no voice is set up for me."]


@pytest.mark.parametrize("model", ["", "openai/tts-1"])
async def test_who_turns_it_on_without_a_model_reads_so(listener: Listener, channel: str, model: str) -> None:
    with_preferences(listener, model)
    word = "/prefs" if channel == "telegram" else "prefs"
    silent = "" if model else "\nI cannot speak yet: no voice is set up for me."
    (said,) = await listener.says(f"{word} voice on")
    assert str(said).replace("\n\n", "\n") == f"voice: turned on{silent}"
    assert await listener.says(f"{word} voice off") == ["voice: turned off"]
    (said,) = await listener.says(
        "speak to me",
        wants(("set_preference", {"name": "voice", "value": "on"})),
        lambda told: says(told.messages[-1].text),
    )
    assert str(said).replace("\n\n", "\n") == f"voice: turned on{silent}"


async def test_that_nothing_is_spoken_is_said_in_six_languages(database_url: str, tmp_path: Path) -> None:
    async with open_listener("sms", database_url, tmp_path / "files") as listener:
        with_preferences(listener, "")
        await listener.says("hello", says("Hello."))
        read = set()
        for language in LANGUAGES:
            await listener.store.db.tenants.change({"language": language})
            (said,) = await listener.says("prefs voice on")
            _, _, silent = str(said).partition("\n")
            with speaking(language):
                assert silent == fold(gettext(SILENT))
            read.add(silent)
    assert len(read) == 6


def with_preferences(listener: Listener, model: str) -> None:
    """Let people change their preferences, as an installation with a speech model does, or without any."""
    system, settings = listener.outlet.system, load_settings(onevalet_speech_model=model)
    credentials = store_with(listener.store.database, new_key())
    system.people = build_person_commands(settings, listener.store.database, credentials, system.clock)
    system.options["people"] = build_people(settings, listener.store.database, system.clock)
    system.more.append(set_preference)


async def test_a_long_answer_is_shortened_for_the_ear(listener: Listener) -> None:
    await listener.wants_voice()
    await listener.records("1", says("One is a fact. " * 9 + "\n\n```\ncode\n```"))
    assert listener.mouth
    assert listener.mouth.said[0][0] == "One is a fact. " * 6 + "The rest is written above."


async def test_what_cannot_be_heard_is_not_spoken(listener: Listener) -> None:
    await listener.wants_voice()
    assert sounds(await listener.records("1", says("```\nls\n```"))) == []
    assert await listener.ends() == [("left_out", "nothing in it can be heard")]
    assert listener.mouth
    assert listener.mouth.said == []


MAIL = wants(("send_mail", {"to": "sam@example.com", "subject": "Lunch"}))


async def test_promise_9_a_card_is_never_spoken(listener: Listener) -> None:
    await listener.wants_voice()
    assert sounds(await listener.records("1", MAIL)) == []
    assert await listener.ends() == []


async def test_promise_9_a_card_stays_the_last_thing_said(listener: Listener) -> None:
    await listener.wants_voice()
    await listener.record("1")
    await listener.answers(says(ANSWER))
    await listener.channel.said("mail sam about lunch")
    assert sounds(await listener.works(MAIL)) == []
    assert await listener.ends() == [("left_out", "a card came after it")]
    await listener.says("OK", says("Sent."))
    assert await listener.outlet.system.states() == ["approved"]


async def test_a_failing_model_leaves_the_text_and_says_nothing(listener: Listener) -> None:
    await listener.wants_voice()
    assert listener.mouth
    listener.mouth.fails = ModelUnavailable("away")
    assert len(await listener.records("1", says(ANSWER))) == 1
    assert await listener.ends() == [("failed", "ModelUnavailable")]
    turn = str(await listener.store.one("select turn_id from spoken_answers"))
    (line,) = [line for line in await trace(listener.store.database, turn) if line["what"] == "VOICE"]
    assert (line["state"], line["reason"]) == ("failed", "ModelUnavailable")


async def test_who_asked_for_it_is_told_if_it_fails_and_may_ask_again(listener: Listener) -> None:
    await listener.says("What is on today?", says(ANSWER))
    assert listener.mouth
    listener.mouth.fails = ModelUnavailable("away")
    assert await listener.says("say it aloud") == ["I could not say that aloud. You have it in writing above."]
    listener.mouth.fails = None
    assert [type(one) for one in await listener.says("say it aloud")] == [OpenedFile]


async def test_promise_4_the_text_goes_first_and_never_waits(listener: Listener) -> None:
    await listener.wants_voice()
    system = listener.outlet.system
    await listener.record("1")
    system.model = FakeModel([says(ANSWER)])
    await system.turn()
    assert await listener.voicing().claim(None) is None, "the text is not out"
    await system.delivery.deliver()
    await listener.speak()
    assert sounds(listener.outlet.got()) == []
    await system.delivery.deliver()
    await listener.channel.settled()
    assert len(sounds(listener.outlet.got())) == 1


async def test_a_text_that_did_not_arrive_is_not_spoken(listener: Listener) -> None:
    await listener.wants_voice()
    system = listener.outlet.system
    await listener.record("1")
    system.model = FakeModel([says(ANSWER)])
    await system.turn()
    await listener.store.admin.execute("update outbound set state = 'failed' where state = 'ready'")
    await listener.speak()
    assert await listener.ends() == [("left_out", "its text did not arrive")]
    assert listener.mouth
    assert listener.mouth.said == []


async def test_a_recording_is_paid_once_and_counted_with_the_rest(listener: Listener) -> None:
    await listener.wants_voice()
    store = listener.store
    listener.budgets = DailyBudgets(store.database, listener.outlet.system.clock, Decimal("0.02"), ())
    assert len(sounds(await listener.records("1", says(ANSWER)))) == 1
    cost = len(HEARD) / 10_000
    assert float(str(await store.one("select sum(cost) from usage_days where name = 'speech'"))) == pytest.approx(cost)
    assert float(str(await store.one("select sum(amount) from reservations where settled"))) == pytest.approx(cost)
    assert float(str(await store.one("select seconds from spoken_answers"))) == pytest.approx(SECONDS, abs=0.2)
    await listener.records("2", says(f"{ANSWER} " * 4))
    assert (await listener.ends())[-1] == ("failed", "its person's budget is used up")


async def test_a_forgotten_answer_takes_its_recording_along(listener: Listener) -> None:
    await listener.wants_voice()
    await listener.records("1", says(ANSWER))
    tenant, kept = (
        await listener.store.one("select tenant_id from tenants"),
        "select count(*) from files where id in (select file_id from spoken_answers)",
    )
    assert await listener.store.one(kept) == 1
    await listener.store.database.rows("select redact($1,$2)", tenant, ["dentist"])
    assert await listener.store.one(kept) == 0


@exempt(telegram="carries the recording", slack="carries the recording")
async def test_where_mms_does_not_work_a_link_is_sent(listener: Listener, channel: str) -> None:
    listener.channel.sender.with_mms(())
    await listener.wants_voice()
    _, link = await listener.records("1", says(ANSWER))
    assert isinstance(link, str)
    assert 'The file "Spoken answer 1.mp3", to be opened within 7 days: ' in link
    assert (await listener.outlet.fetch(link.split()[-1]))[0] == 200
    listener.links = False
    assert sounds(await listener.records("2", says(ANSWER))) == []
    assert (await listener.ends())[-1] == ("left_out", "no recording can be sent there")


async def test_without_a_model_the_trace_says_why_nothing_is_heard(listener: Listener) -> None:
    await listener.wants_voice()
    listener.mouth = None
    await listener.records("1", says(ANSWER))
    assert await listener.ends() == [("left_out", "no speech model is set")]


async def test_promise_5_answers_that_are_lost_change_nothing(channel: str, database_url: str, tmp_path: Path) -> None:
    async with open_listener(channel, database_url, tmp_path / "files", twice=TwiceDatabase(database_url)) as listener:
        await listener.wants_voice()
        assert len(sounds(await listener.records("1", says(ANSWER)))) == 1
        assert listener.mouth
        assert len(listener.mouth.said) == 1
        assert await listener.says("say it aloud") == ["I have said that aloud already: it is above."]
