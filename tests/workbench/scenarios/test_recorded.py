"""A talk on all channels is recorded on a whole installation, written as a file, and plays from it elsewhere."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from core.people.access_policy import PersonRole
from onevalet.testing import ScenarioError
from tests.eventually import eventually
from workbench.scenarios.opening import open_stage
from workbench.scenarios.phones import phone_of
from workbench.scenarios.playing import play
from workbench.scenarios.recording.recorder import Recorded, Recorder
from workbench.scenarios.scenario import Scenario, parse_scenario, read_text
from workbench.scenarios.simulated import Seen, newest_pairing
from workbench.scenarios.stage import Stage
from workbench.scenarios.writing import to_toml

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("recorded")]
DEMO = parse_scenario({"step": [{"send": "Whoever records says nothing beforehand"}]})


@dataclass
class Talk:
    """People at an installation, as the page lets them act."""

    stage: Stage
    http: ClientSession

    async def post(self, path: str, **body: Any) -> Any:
        async with self.http.post(f"{self.stage.simulator.url}{path}", json=body) as answer:
            told = await answer.json()
            assert answer.status == 200, told
            return told

    async def act(self, act: str, person: str = "ada", **arguments: Any) -> Any:
        return await self.post(f"/sim/{act}", person=person, **arguments)

    async def reads(self, channel: str, words: str, person: str = "ada", surface: str = "") -> Seen:
        """Wait for a message that has these words."""

        def found() -> list[Seen]:
            phone = phone_of(self.stage.simulator, channel, person)
            return [one for one in (phone.seen_on(surface) if surface else phone.seen()) if words in one.text]

        await eventually(found)
        return found()[-1]

    def code_of(self, person: str, channel: str) -> str:
        return newest_pairing(phone_of(self.stage.simulator, channel, person).seen())


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return asyncio.run(_record())


async def _record() -> Recorded:
    async with open_stage(DEMO) as stage, ClientSession() as http:
        bench = stage.bench
        recorder = Recorder(stage.simulator, bench.database, bench.clock, bench.addresses, {"plugins": ["agents"]})
        bench.recorder = recorder
        talk = Talk(stage, http)
        await talk.act("slack/say", text="What is 5 * 5?")  # still on its way when the recording begins
        await recorder.start()
        await _threads_and_home(talk)
        await _telegram(talk)
        await _strangers(talk)
        await _phone(talk)
        return await recorder.stop()


async def _threads_and_home(talk: Talk) -> None:
    await talk.act("slack/say", text="What is 6 * 7?")
    answer = await talk.reads("slack", "42")
    await talk.act("slack/say", text="What is 7 * 7?", thread_ts=answer.id)
    await talk.reads("slack", "49")
    own = await talk.act("slack/say", text="What is 8 * 7?")
    await talk.reads("slack", "56")
    await talk.act("slack/edit", ts=own["ts"], text="What is 8 * 70?")
    await talk.reads("slack", "560")
    await talk.act("slack/delete", ts=own["ts"])
    await talk.act("slack/open_home", tab="home")
    await talk.reads("slack", "Waits for your decision", surface="home")


async def _telegram(talk: Talk) -> None:
    await talk.act("telegram/start")
    await talk.reads("telegram", "Hello")
    said = await talk.act("telegram/say", text="What is 6 * 8?")
    await talk.reads("telegram", "48")
    await talk.act("telegram/say", text="What is 6 * 9?", reply_to=said["message_id"])
    await talk.reads("telegram", "54")
    await talk.act("telegram/edit", message_id=said["message_id"], text="What is 60 * 8?")
    await talk.reads("telegram", "480")
    before = len(phone_of(talk.stage.simulator, "telegram", "ada").seen())
    await talk.act("telegram/location", latitude="51.5014", longitude="-0.1419")
    await eventually(lambda: len(phone_of(talk.stage.simulator, "telegram", "ada").seen()) > before)
    await talk.act("telegram/block")
    # Whoever unblocks it at once may be told elsewhere that it was blocked, or not.
    await talk.reads("slack", "I can no longer reach you on Telegram")
    await talk.act("telegram/unblock")


async def _strangers(talk: Talk) -> None:
    """Grace is let in on the page, and somebody new from outside it."""
    await talk.act("twilio/say", "grace", text="Hello, who is there?")
    await talk.reads("sms", "code", "grace")
    await talk.post("/bench/pair", code=talk.code_of("grace", "sms"), role="guest")
    await talk.act("twilio/say", "grace", text="What is 9 * 9?")
    await talk.reads("sms", "81", "grace")
    await talk.post("/sim/people", name="Mary Somerville")
    await talk.act("telegram/say", "mary", text="Hello, who is there?")
    await talk.reads("telegram", "code", "mary")
    await talk.stage.outside.admit(talk.code_of("mary", "telegram"), PersonRole.MEMBER)
    recorder: Any = talk.stage.bench.recorder
    await eventually(lambda: any(one.values.get("admit") == "mary" for one in recorder.items))
    await talk.act("telegram/say", "mary", text="What is 9 * 8?")
    await talk.reads("telegram", "72", "mary")


async def _phone(talk: Talk) -> None:
    await talk.act("twilio/phone", mode="on")
    await talk.act("twilio/callbacks", order="twice")
    said = await talk.act("twilio/say", text="What is 4 * 4?")
    await talk.reads("sms", "16")
    await talk.act("twilio/duplicate", sid=said["sid"])


def _scenario(recorded: Recorded) -> Scenario:
    return read_text(to_toml(recorded.values), Path("talk.scenario.toml"))


def test_everything_that_people_did_is_recorded_and_nothing_else(recorded: Recorded) -> None:
    assert list(recorded.left_out) == []
    steps = _scenario(recorded).steps
    verbs = [step.verb for step in steps]
    for verb in ("edit", "delete", "open", "location", "block", "join", "admit", "phone", "callbacks", "redeliver"):
        assert verb in verbs, verb
    replies = [(step.value, step.option_texts("reply_to")) for step in steps if step.verb == "send"]
    assert [words for value, words in replies if value == "What is 7 * 7?"] != [()]
    assert [words for value, words in replies if value == "What is 6 * 9?"] == [("What is 6 * 8?",)]
    let_in = [(step.value, step.options.get("role", "member")) for step in steps if step.verb == "admit"]
    assert let_in == [("grace", "guest"), ("mary", "member")]


def test_what_was_on_its_way_is_no_part_of_a_recording_nor_its_answer(recorded: Recorded) -> None:
    steps = _scenario(recorded).steps
    assert next(step.value for step in steps if step.verb in ("send", "expect")) == "What is 6 * 7?"
    assert "25" not in [text for step in steps if step.verb in ("answer", "expect") for text in step.texts]


async def test_a_recorded_talk_plays_from_its_file(recorded: Recorded, database_url: str, redis_url: str) -> None:
    played = await play(_scenario(recorded), {"database_url": database_url, "redis_url": redis_url})
    assert any("72" in line for line in played.lines)


async def test_a_file_that_differs_in_a_thread_fails_there(
    recorded: Recorded, database_url: str, redis_url: str
) -> None:
    scenario = _scenario(recorded)
    place = next(
        number for number, step in enumerate(scenario.steps) if step.verb == "expect" and "reply_to" in step.options
    )
    wrong = scenario.steps[place]
    wrong = replace(wrong, options={**wrong.options, "reply_to": "Never said", "within": 5})
    steps = (*scenario.steps[:place], wrong, *scenario.steps[place + 1 :])
    with pytest.raises(ScenarioError, match=rf"step {wrong.number} \(expect = .*Never said"):
        await play(replace(scenario, steps=steps), {"database_url": database_url, "redis_url": redis_url})
