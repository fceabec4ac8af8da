"""Each act of people: noted as the page makes it, read as a step, and taken again as the same act."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from slack_sdk.web.async_client import AsyncWebClient

from onevalet.testing import ScenarioError
from onevalet.testing.scripted_model import ScriptedModel
from tests.eventually import eventually
from workbench.scenarios.playing import play_on
from workbench.scenarios.recording.acts import note_act
from workbench.scenarios.recording.screens import Screens
from workbench.scenarios.scenario import parse_scenario
from workbench.scenarios.stage import Stage
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock

type Arguments = dict[str, Any]


def _button(text: str) -> Arguments:
    return {"type": "button", "action_id": text.lower(), "value": "v1", "text": {"type": "plain_text", "text": text}}


def _menu(*texts: str) -> Arguments:
    options = [{"text": {"type": "plain_text", "text": text}, "value": text.lower()} for text in texts]
    shown = {"type": "plain_text", "text": "When"}
    return {"type": "static_select", "action_id": "when", "placeholder": shown, "options": options}


def _blocks(text: str, *elements: Arguments) -> list[Arguments]:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return [section, {"type": "actions", "elements": [*elements]}]


@dataclass
class Place:
    """A simulator in which something was said on every channel, and what people do there from now on."""

    simulator: Simulator
    screens: Screens
    acted: list[tuple[str, str, Arguments]]
    ids: dict[str, Any]

    def note(self, provider: str, action: str, arguments: Arguments) -> Any:
        return note_act(provider, action, arguments, self.screens.since(provider, "ada"))

    async def take(self, *steps: Any) -> None:
        nothing = cast(Any, None)
        stage = Stage(self.simulator, ScriptedModel([]), nothing, nothing, scripted=False)
        await play_on(stage, parse_scenario({"step": list(steps)}))


@pytest.fixture
async def place(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    async def take(_: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", take)
    async with TestServer(app) as gateway, serve_simulator(SimulatorConfig(pace=0.01), SystemClock()) as simulator:
        simulator.wire.connect_gateway(str(gateway.make_url("/")))
        place = Place(simulator, Screens(simulator), [], {})
        place.screens.begin()
        await _talk(place)
        for name, provider in simulator.providers.items():
            monkeypatch.setattr(provider, "act", _spied(place.acted, name, provider.act))
        yield place


async def _talk(place: Place) -> None:
    """Let the app write two cards on Slack and Telegram, and Ada two messages on every channel."""
    simulator, ids = place.simulator, place.ids
    slack = AsyncWebClient(token=simulator.wire.config.slack.bot_token, base_url=simulator.slack_url)
    for number in (1, 2):
        for provider, key in (("twilio", "sid"), ("slack", "ts"), ("telegram", "message_id")):
            done: Any = await simulator.providers[provider].act("ada", "say", {"text": f"Word {number} of hers"})
            ids[f"{provider} {number}"] = done[key]
        blocks = _blocks(f"Card {number} for her", _button("Approve"), _menu("Now", "Later"))
        posted = await slack.chat_postMessage(channel="D0ADA00001", text="A card", blocks=blocks)
        ids[f"slack card {number}"] = posted["ts"]
        ids[f"telegram card {number}"] = await _card(simulator, number)
    published = await slack.views_publish(
        user_id="U0ADA00001",
        view={"type": "home", "blocks": _blocks("At home", _button("Refresh"), _menu("Day", "Week"))},
    )
    ids["home view"] = published["view"]["id"]


async def _card(simulator: Simulator, number: int) -> int:
    keyboard = {"inline_keyboard": [[{"text": "Approve", "callback_data": f"yes:{number}"}]]}
    told = {"chat_id": 700100001, "text": f"Card {number} for her", "reply_markup": keyboard}
    address = f"{simulator.telegram_url}/bot{simulator.wire.config.telegram.bot_token}/sendMessage"
    async with ClientSession() as http, http.post(address, json=told) as answer:
        return int((await answer.json())["result"]["message_id"])


def _spied(acted: list[tuple[str, str, Arguments]], name: str, act: Any) -> Any:
    async def spy(person: str, action: str, arguments: Arguments) -> Any:
        acted.append((name, action, arguments))
        return await act(person, action, arguments)

    return spy


@pytest.mark.parametrize(
    ("provider", "action", "made", "step"),
    [
        ("slack", "say", {"text": "And?", "thread_ts": "slack card 1"}, {"send": "And?", "reply_to": "Card 1 for her"}),
        ("slack", "edit", {"ts": "slack 1", "text": "No"}, {"edit": "No", "message": "Word 1 of hers"}),
        ("slack", "delete", {"ts": "slack 1"}, {"delete": "Word 1 of hers"}),
        ("slack", "press", {"ts": "slack card 2", "action_id": "approve", "value": "v1"}, {"press": "Approve"}),
        (
            "slack",
            "press",
            {"ts": "slack card 1", "action_id": "approve", "value": "v1"},
            {"press": "Approve", "message": "Card 1 for her"},
        ),
        (
            "slack",
            "press",
            {"ts": "slack card 1", "action_id": "when", "value": "later"},
            {"choose": "Later", "menu": "When", "message": "Card 1 for her"},
        ),
        (
            "slack",
            "press",
            {"view_id": "home view", "action_id": "refresh", "value": "v1"},
            {"press": "Refresh", "on": "home"},
        ),
        (
            "slack",
            "press",
            {"view_id": "home view", "action_id": "when", "value": "week"},
            {"choose": "Week", "menu": "When", "on": "home"},
        ),
        ("slack", "open_home", {"tab": "home"}, {"open": "home"}),
        (
            "telegram",
            "say",
            {"text": "And?", "reply_to": "telegram card 1"},
            {"send": "And?", "reply_to": "Card 1 for her"},
        ),
        (
            "telegram",
            "edit",
            {"message_id": "telegram 1", "text": "No"},
            {"edit": "No", "message": "Word 1 of hers"},
        ),
        (
            "telegram",
            "press",
            {"message_id": "telegram card 1", "data": "yes:1"},
            {"press": "Approve", "message": "Card 1 for her"},
        ),
        (
            "telegram",
            "location",
            {"latitude": "51.5014", "longitude": "-0.1419", "title": "Palace", "address": "London"},
            {"location": {"latitude": 51.5014, "longitude": -0.1419, "title": "Palace", "address": "London"}},
        ),
        (
            "telegram",
            "contact",
            {"first_name": "Sam", "phone_number": "+14155550123"},
            {"contact": {"first_name": "Sam", "phone_number": "+14155550123"}},
        ),
        (
            "telegram",
            "location",
            {"latitude": "51.5", "longitude": "-0.1", "accuracy": "12.0", "live": 900},
            {"location": {"latitude": 51.5, "longitude": -0.1, "accuracy": 12.0, "live": 900}},
        ),
        ("telegram", "react", {"message_id": "telegram card 2", "emoji": "👍"}, {"react": "👍"}),
        (
            "telegram",
            "react",
            {"message_id": "telegram card 1", "emoji": "👎"},
            {"react": "👎", "message": "Card 1 for her"},
        ),
        (
            "slack",
            "react",
            {"ts": "slack card 1", "name": "+1", "taken_back": False},
            {"react": "👍", "message": "Card 1 for her"},
        ),
        ("telegram", "sticker", {"emoji": "👍"}, {"sticker": "👍"}),
        ("telegram", "group_say", {"text": "x", "mention": True}, {"send": "x", "on": "group"}),
        ("telegram", "group_say", {"text": "x", "mention": False}, {"send": "x", "on": "group", "mention": False}),
        ("slack", "channel_say", {"text": "x", "mention": True}, {"send": "x", "on": "group"}),
        ("telegram", "block", {}, {"block": True}),
        ("telegram", "redeliver", {}, {"redeliver": 1}),
        (
            "telegram",
            "voice",
            {"data": "AAAA", "name": "v.oga", "content_type": "audio/ogg", "caption": "", "duration": 3},
            {"file": "v.oga", "base64": "AAAA", "type": "audio/ogg", "voice": 3},
        ),
        ("twilio", "phone", {"mode": "off"}, {"phone": "off"}),
        ("twilio", "callbacks", {"order": "reversed"}, {"callbacks": "reversed"}),
        ("twilio", "duplicate", {"sid": "twilio 2"}, {"redeliver": 1}),
    ],
)
async def test_an_act_is_noted_as_a_step_and_taken_again(
    place: Place, provider: str, action: str, made: Arguments, step: Arguments
) -> None:
    arguments = {name: place.ids.get(value, value) if isinstance(value, str) else value for name, value in made.items()}
    noted = place.note(provider, action, arguments)
    assert noted.left_out == ""
    channel = {"twilio": "sms"}.get(provider, provider)
    assert noted.step == {**step, "channel": channel}
    await place.take(noted.step)
    [(at, did, taken)] = place.acted
    assert (at, did) == (provider, action)
    if action != "redeliver":
        assert taken == {name: arguments[name] for name in taken}
    assert set(taken) | {"value"} >= set(arguments)


async def test_a_moved_place_and_a_reaction_are_noted_and_taken_again(place: Place) -> None:
    async def noted(provider: str, action: str, arguments: Arguments) -> Any:
        step = place.note(provider, action, arguments).step
        await place.take(step)
        return step

    here = {"latitude": "51.5", "longitude": "-0.1"}
    await noted("telegram", "location", {**here, "live": 900})
    shown: Any = place.simulator.providers["telegram"].state()
    message = shown["people"]["ada"]["messages"][-1]
    there = {"latitude": "51.6", "longitude": "-0.2", "accuracy": "9.0", "message_id": message["message_id"]}
    moved = await noted("telegram", "move_location", there)
    assert moved == {"move": {"latitude": 51.6, "longitude": -0.2, "accuracy": 9.0}, "channel": "telegram"}
    assert await noted("telegram", "stop_location", {}) == {"unshare": True, "channel": "telegram"}
    given = {"message_id": place.ids["telegram card 2"], "emoji": "👍"}
    await noted("telegram", "react", given)
    assert await noted("telegram", "react", {**given, "emoji": ""}) == {
        "react": "👍",
        "taken_back": True,
        "channel": "telegram",
    }
    given = {"ts": place.ids["slack card 2"], "name": "-1", "taken_back": False}
    await noted("slack", "react", given)
    taken = await noted("slack", "react", {**given, "taken_back": True})
    assert (taken["react"], taken["taken_back"]) == ("👎", True)
    assert [(at, did) for at, did, _ in place.acted] == [
        ("telegram", "location"),
        ("telegram", "move_location"),
        ("telegram", "stop_location"),
        ("telegram", "react"),
        ("telegram", "react"),
        ("slack", "react"),
        ("slack", "react"),
    ]


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"react": "👍", "message": "Card 3", "channel": "slack"}, "No message says 'Card 3'"),
        ({"react": "👍", "channel": "sms"}, "No message was written"),
        ({"move": {"latitude": 1, "longitude": 2}, "channel": "telegram"}, "That location is not shared live"),
        ({"send": "x", "reply_to": "Never", "channel": "slack"}, "No message says 'Never'"),
        ({"send": "x", "reply_to": "Word 1", "channel": "sms"}, "A text message answers no other one"),
        ({"edit": "x", "message": "Card 1", "channel": "slack"}, "No message says 'Card 1'"),
        ({"edit": "x", "message": "Never", "channel": "telegram"}, "No message says 'Never'"),
        ({"delete": ["Word", "9"], "channel": "slack"}, "No message says 'Word … 9'"),
        ({"press": "Approve", "message": "Card 3", "channel": "slack"}, "no button 'Approve' to press in a message"),
        ({"press": "Approve", "message": "Card 3", "channel": "telegram"}, "no button 'Approve' to press in a message"),
        ({"press": "Gone", "on": "home", "channel": "slack"}, "There is no button 'Gone'"),
        ({"press": "OK", "on": "home", "channel": "telegram"}, "There is no home in Telegram"),
        ({"send": "x", "on": "group", "channel": "sms"}, "groups to write in only in Slack and Telegram"),
        ({"expect": "x", "on": "group", "channel": "sms"}, "There is no group to read here, but in Slack and Telegram"),
        ({"choose": "Never", "menu": "When", "channel": "slack"}, "no choice 'Never' in the menu 'When'"),
        ({"close": "form", "channel": "slack"}, "No form is open"),
        ({"block": False, "channel": "telegram"}, "not blocked already"),
        ({"edit": "x"}, "`edit` is for slack and telegram only, and this step is on sms"),
        ({"location": {"latitude": 1, "longitude": 2}}, "`location` is for telegram only, and this step is on sms"),
        ({"join": "Ada Lovelace"}, "Ada Lovelace is here already"),
        ({"expect": "Card 2", "reply_to": "Word 1", "channel": "slack", "within": 0.2}, "No new message answers"),
        ({"expect": "Elsewhere", "on": "home", "channel": "slack", "within": 0.2}, "'Elsewhere' is in no new message"),
    ],
)
async def test_an_act_that_cannot_be_taken_again_names_its_step(
    place: Place, step: Arguments, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.scenarios.simulated.OPENS_WITHIN", 0.1)
    with pytest.raises(ScenarioError, match=r"step 1 ") as failed:
        await place.take(step)
    assert error in str(failed.value)


async def test_what_is_read_in_a_thread_and_at_home_is_expected_there(place: Place) -> None:
    slack = AsyncWebClient(token=place.simulator.wire.config.slack.bot_token, base_url=place.simulator.slack_url)
    place.screens.fresh()
    await slack.chat_postMessage(channel="D0ADA00001", text="It is done.", thread_ts=place.ids["slack 1"])
    await slack.views_publish(
        user_id="U0ADA00001", view={"type": "home", "blocks": _blocks("Waits (1 h ago)", _button("Go"))}
    )
    told, home = place.screens.fresh()
    assert told == {"expect": "It is done", "reply_to": "Word 1 of hers", "channel": "slack", "person": "ada"}
    assert home == {"expect": "Waits", "buttons": ["Go"], "on": "home", "channel": "slack", "person": "ada"}
    await place.take(told, home)
    with pytest.raises(ScenarioError, match="The message answers 'Word 1 of hers', and not 'Word 2'"):
        await place.take({**told, "expect": "It is done", "reply_to": "Word 2", "within": 0.2})


@pytest.mark.parametrize(
    ("provider", "action", "made", "said"),
    [
        ("slack", "say", {"text": "x", "thread_ts": "9.9"}, "a reply in the thread of a message that was there before"),
        ("slack", "edit", {"ts": "9.9", "text": "x"}, "an edit of a message that was there before"),
        ("slack", "delete", {"ts": "9.9"}, "the deletion of a message that was there before"),
        ("slack", "press", {"ts": "9.9", "action_id": "approve"}, "a press in a message that was there before"),
        ("telegram", "press", {"message_id": 99, "data": "yes:1"}, "a press in a message that was there before"),
        ("slack", "mention", {"text": "x"}, "mention (slack)"),
        ("telegram", "group_say", {"text": "x", "reply_to": 9}, "a reply in a group (telegram)"),
        ("slack", "channel_say", {"text": "x", "thread_ts": "9.9"}, "a reply in a group (slack)"),
        ("telegram", "group_say", {"text": "x", "topic": 9}, "what is said in a topic or in a group's name (telegram)"),
        ("telegram", "react", {"message_id": 99, "emoji": "👍"}, "a reaction to a message that was there before"),
        ("telegram", "react", {"message_id": "telegram card 1", "emoji": "🔥"}, "the reaction 🔥 (telegram)"),
        ("twilio", "react", {"sid": "SM9", "reaction": "like"}, "a reaction to a message that was there before"),
        ("telegram", "move_location", {"latitude": "1", "longitude": "2"}, "a live location that was there before"),
        ("twilio", "duplicate", {"sid": "twilio 1"}, "a text delivered again that was not the last one (sms)"),
        (
            "twilio",
            "say",
            {"media": [{"name": "big", "data": "A" * 600_000}]},
            "the file big, which is too large (sms)",
        ),
    ],
)
async def test_what_no_scenario_can_hold_is_named(
    place: Place, provider: str, action: str, made: Arguments, said: str
) -> None:
    arguments = {name: place.ids.get(str(value), value) for name, value in made.items()}
    noted = place.note(provider, action, arguments)
    assert noted.step == {}
    assert noted.left_out.startswith(said)


async def test_what_was_there_before_a_recording_is_no_part_of_it(place: Place) -> None:
    place.screens.begin()
    noted = place.note("slack", "edit", {"ts": place.ids["slack 1"], "text": "x"})
    assert noted.left_out.startswith("an edit of a message that was there before the recording")


async def test_a_provider_tells_that_something_is_on_its_way(place: Place) -> None:
    await eventually(lambda: not place.simulator.providers["slack"].delivers, "nothing on its way")
    await place.take({"send": "Hello?", "channel": "slack"})
    assert place.simulator.delivers
    await eventually(lambda: not place.simulator.providers["slack"].delivers, "nothing on its way")
