"""The channel against Slack as emulated: what it signs and sends, its histories, its settings."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.ack import NOT_OPENED
from channels.slack.identity import ask_who_we_are
from channels.slack.manifest import manifest_yaml
from channels.slack.receive import SlackChannel
from core.errors import StoreUnavailable, Unavailable
from core.messaging.inbound import Amendment
from core.messaging.messages import (
    Address,
    Command,
    Form,
    FormField,
    FormFieldKind,
    IgnoredMessage,
    IgnoreReason,
    InboundMessage,
    Press,
)
from core.messaging.pointed import EDITED
from providers.slack.client import SlackApi
from tests.channels.memory_sink import MemorySink
from tests.channels.slack.builders import Remembered, make_channel
from tests.channels.slack.team import ADA_DM, PUBLIC_URL, Team, running_team
from tests.eventually import eventually
from workbench.simulator.config import SlackConfig
from workbench.simulator.faults import FaultKind, Rule

SLACK = SlackConfig()
BUTTON = [
    {
        "type": "actions",
        "elements": [
            {"type": "button", "action_id": "choice_0", "text": {"type": "plain_text", "text": "OK"}, "value": "tok"}
        ],
    }
]
FORM = Form(
    token="tok_form",
    title="Change the message before it goes",
    text="To: bob@example.com <script> *now*",
    fields=(
        FormField("when", "When", "noon"),
        FormField("body", "Body", "Dear Bob,\nhello <you>", FormFieldKind.TEXT),
        FormField("seat", "Seat", "window", FormFieldKind.CHOICE, options=("window", "aisle")),
    ),
)
HOUR = timedelta(hours=1)


@pytest.fixture
async def team() -> AsyncIterator[Team]:
    async with running_team() as running:
        yield running


@pytest.fixture
async def client(team: Team) -> AsyncWebClient:
    return AsyncWebClient(token=SLACK.bot_token, base_url=team.simulator.slack_url, retry_handlers=[])


async def test_promise_1_what_a_person_says_and_types_is_taken_in(team: Team) -> None:
    await team.act("say", text="Fish & chips <b> 👋")
    await team.settled()
    await team.act("say", text="", files=[{"name": "a.txt", "content": "hello"}])
    await team.settled()
    assert (await team.act("command", text="/valet stop"))["ok"]
    first, second, third = team.sink.accepted
    assert isinstance(first, InboundMessage)
    assert (first.text, first.sender) == ("Fish & chips <b> 👋", "U0ADA00001")
    assert first.address == Address("slack", SLACK.team_id, ADA_DM)
    assert isinstance(second, InboundMessage)
    assert (second.media[0].name, second.media[0].size) == ("a.txt", 5)
    assert isinstance(third, InboundMessage)
    assert (third.command, third.address.peer) == (Command("stop"), ADA_DM)
    assert team.person()["failed"] == []


async def test_slack_verifies_our_address(team: Team) -> None:
    assert await team.act("verify_url") == {"ok": True}


async def test_promise_2_retries_after_a_lost_answer_are_one_message(team: Team) -> None:
    async def fail_twice() -> None:
        team.sink.away = team.sink.calls <= 2

    team.sink.before = fail_twice
    sent = await team.act("say", text="still there?")
    await team.settled()
    assert (team.sink.calls, len(team.sink.accepted)) == (3, 1)
    assert team.person()["failed"] == []
    await team.act("redeliver", number=1)
    await team.settled()
    assert len(team.sink.accepted) == 1
    assert sent["ts"] in str(team.sink.accepted[0])


async def test_promise_2_one_gesture_that_comes_as_two_events_is_one_message(team: Team) -> None:
    await team.act("say", text="Lunch?", doubled=True)
    await team.settled()
    assert (team.sink.calls, len(team.sink.accepted)) == (2, 1)


async def test_promise_1_catch_up_recovers_what_slack_gave_up_on_in_an_outage(
    team: Team,
) -> None:
    team.sink.away = True
    await team.act("say", text="Anybody?")
    await team.settled()
    assert (team.sink.calls, len(team.person()["failed"])) == (4, 1)
    team.sink.away = False
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR) == 1


async def test_promise_3_catch_up_finds_an_edit_that_was_missed(team: Team) -> None:
    ts = (await team.act("say", text="teh cat"))["ts"]
    await team.settled()
    team.sink.away = True
    await team.act("edit", ts=ts, text="the cat")
    await team.settled()
    team.sink.away = False
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR) == 0
    changes = [item.message and item.message.text for item in team.sink.accepted if isinstance(item, Amendment)]
    assert changes == ["the cat"]


async def test_promise_9_catch_up_marks_what_was_edited_before_it_was_known(team: Team) -> None:
    team.sink.away = True
    ts = (await team.act("say", text="what about 7K"))["ts"]
    await team.act("edit", ts=ts, text="OK 7K")
    await team.act("say", text="OK 8M")
    await team.settled()
    team.sink.away = False
    await team.channel.catch_up(datetime.now(UTC) - HOUR)
    found = [(item.text, EDITED in item.points) for item in team.sink.accepted if isinstance(item, InboundMessage)]
    assert sorted(found) == [("OK 7K", True), ("OK 8M", False)]


async def test_promise_6_bot_edited_and_deleted_messages_are_recorded(team: Team, client: AsyncWebClient) -> None:
    ts = (await team.act("say", text="teh cat"))["ts"]
    await team.settled()
    await team.act("edit", ts=ts, text="the cat")
    await team.settled()
    await team.act("delete", ts=ts)
    await team.settled()
    await team.act("as_bot", text="deploy done")
    await team.settled()
    posted = await client.chat_postMessage(channel=ADA_DM, text="one")
    await team.settled()
    await client.chat_update(channel=ADA_DM, ts=posted["ts"], text="two")
    await team.settled()
    reasons = [item.reason for item in team.sink.accepted if isinstance(item, IgnoredMessage)]
    changes = [item.message and item.message.text for item in team.sink.accepted if isinstance(item, Amendment)]
    assert changes == ["the cat", None]
    assert reasons == [
        IgnoreReason.BOT,
        IgnoreReason.OWN,
        IgnoreReason.OWN,
    ]


async def test_a_mention_in_a_channel_is_answered_with_where_to_write(team: Team) -> None:
    await team.act("mention", text="are you there?")
    await team.settled()
    (message,) = team.sink.accepted
    assert isinstance(message, IgnoredMessage)
    assert message.reason is IgnoreReason.GROUP


async def test_presses_and_threads_come_in_as_emulated(team: Team, client: AsyncWebClient) -> None:
    await team.act("set", own_events=False)
    root = (await team.act("say", text="one"))["ts"]
    await team.act("say", text="two", thread_ts=root)
    await team.settled()
    card = await client.chat_postMessage(channel=ADA_DM, text="card", blocks=BUTTON, thread_ts=root)
    assert (await team.act("press", ts=card["ts"], action_id="choice_0"))["ok"]
    _, reply, pressed = team.sink.accepted
    assert isinstance(reply, InboundMessage)
    assert isinstance(pressed, Press)
    assert reply.address == pressed.address == Address("slack", SLACK.team_id, ADA_DM, root)
    assert (pressed.sender, pressed.token, pressed.provider_id) == ("U0ADA00001", "tok", card["ts"])


async def test_a_form_is_opened_filled_in_and_comes_back(team: Team, client: AsyncWebClient) -> None:
    await team.act("set", own_events=False)
    team.sink.form = FORM
    card = await client.chat_postMessage(channel=ADA_DM, text="card", blocks=BUTTON)
    assert (await team.act("press", ts=card["ts"], action_id="choice_0"))["ok"]
    await eventually(lambda: bool(team.person()["modals"]))
    (modal,) = team.person()["modals"]
    team.sink.form, team.sink.said = None, "Here is the new card. <!channel>"
    assert (await team.act("submit", view_id=modal["id"], values={"when": "3pm", "seat": "aisle"}))["ok"]
    assert team.person()["modals"] == []
    sent = team.sink.accepted[-1]
    assert isinstance(sent, Press)
    assert (sent.token, sent.sender, sent.address) == (
        "tok_form",
        "U0ADA00001",
        Address("slack", SLACK.team_id, ADA_DM),
    )
    assert sent.entered == (("when", "3pm"), ("body", "Dear Bob,\nhello <you>"), ("seat", "aisle"))
    await eventually(lambda: any(bubble["ephemeral"] for bubble in team.person()["bubbles"]))
    (word,) = [bubble for bubble in team.person()["bubbles"] if bubble["ephemeral"]]
    assert word["text"] == "Here is the new card. <!channel>"


async def test_promise_10_a_form_that_fails_to_open_is_told_and_blocks_nothing(
    team: Team, client: AsyncWebClient
) -> None:
    await team.act("set", own_events=False)
    team.sink.form = FORM
    team.simulator.wire.faults.add(Rule("slack.views.open", FaultKind.SERVER_ERROR))
    root = (await team.act("say", text="one"))["ts"]
    card = await client.chat_postMessage(channel=ADA_DM, text="card", blocks=BUTTON, thread_ts=root)
    assert (await team.act("press", ts=card["ts"], action_id="choice_0"))["ok"]
    await eventually(lambda: any(bubble["ephemeral"] for bubble in team.person()["bubbles"]))
    (word,) = [bubble for bubble in team.person()["bubbles"] if bubble["ephemeral"]]
    assert (word["text"], word["thread_ts"], team.person()["modals"]) == (NOT_OPENED, root, [])


async def test_a_press_in_the_home_is_one_of_the_direct_conversation(team: Team, client: AsyncWebClient) -> None:
    await client.views_publish(user_id="U0ADA00001", view={"type": "home", "blocks": BUTTON})
    assert (await team.act("press", view_id=team.person()["home"]["id"], action_id="choice_0"))["ok"]
    (pressed,) = team.sink.accepted
    assert isinstance(pressed, Press)
    assert pressed.address == Address("slack", SLACK.team_id, ADA_DM)


async def test_opening_the_app_draws_its_home(team: Team) -> None:
    await team.act("open_home")
    await eventually(lambda: team.person()["home"] is not None)
    assert "/valet new" in str(team.person()["home"])
    assert team.sink.calls == 0


async def test_promise_14_a_home_that_cannot_be_drawn_hurts_nobody(team: Team) -> None:
    team.simulator.wire.faults.add(Rule("slack.views.publish", FaultKind.SERVER_ERROR))
    await team.act("open_home")
    await team.settled()
    assert team.person()["failed"] == []
    await team.act("open_home")
    await eventually(lambda: team.person()["home"] is not None)


async def test_promise_3_what_was_said_while_away_comes_in_once_and_in_order(
    team: Team, client: AsyncWebClient
) -> None:
    await team.act("set", own_events=False)
    root = (await team.act("say", text="zero"))["ts"]
    await team.settled()
    team.simulator.wire.connect_gateway("http://127.0.0.1:9", PUBLIC_URL)
    for text in ("one", "two"):
        await team.act("say", text=text)
    await team.act("say", text="in the thread", thread_ts=root)
    await team.act("say", "grace", text="", files=[{"name": "a.txt", "content": "hi"}])
    await client.chat_postMessage(channel=ADA_DM, text="our own")
    await team.act("as_bot", text="another bot's")
    await team.settled()
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR) == 4
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR) == 0
    messages = [item for item in team.sink.accepted if isinstance(item, InboundMessage)]
    assert [item.text for item in messages] == ["zero", "one", "two", "in the thread", ""]
    assert messages[3].address.thread == root
    assert messages[4].media[0].name == "a.txt"


async def test_promise_3_a_reply_to_an_old_root_is_found(team: Team) -> None:
    root = (await team.act("say", text="old"))["ts"]
    await team.settled()
    channel = team.slack.hub.world.channels[ADA_DM]
    message = channel.messages.pop(root)
    message.ts = f"{float(root) - 86_400:.6f}"
    channel.messages[message.ts] = message
    team.simulator.wire.connect_gateway("http://127.0.0.1:9", PUBLIC_URL)
    await team.act("say", text="a day later", thread_ts=message.ts)
    await team.settled()
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR) == 1
    caught_up = team.sink.accepted[-1]
    assert isinstance(caught_up, InboundMessage)
    assert (caught_up.text, caught_up.address.thread) == ("a day later", message.ts)


async def test_promise_3_long_histories_are_read_to_their_end(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channels.slack.catchup._PAGE", 2)
    team.simulator.wire.connect_gateway("http://127.0.0.1:9", PUBLIC_URL)
    for number in range(5):
        await team.act("say", text=f"number {number}")
    await team.settled()
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR) == 5
    texts = [item.text for item in team.sink.accepted if isinstance(item, InboundMessage)]
    assert texts == [f"number {number}" for number in range(5)]


async def test_catch_up_waits_when_slack_asks_and_says_when_it_cannot_tell(team: Team) -> None:
    faults = team.simulator.wire.faults
    faults.add(Rule("slack.conversations.history", FaultKind.RATE_LIMIT, seconds=1))
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR) == 0
    faults.add(Rule("slack.conversations.list", FaultKind.SERVER_ERROR))
    with pytest.raises(Unavailable, match=r"conversations\.list"):
        await team.channel.catch_up(datetime.now(UTC) - HOUR)
    await team.act("say", text="hello")
    await team.settled()
    team.sink.away = True
    with pytest.raises(StoreUnavailable):
        await team.channel.catch_up(datetime.now(UTC) - HOUR)


async def test_a_sweep_that_was_cut_off_goes_on_where_it_ended(team: Team) -> None:
    team.simulator.wire.connect_gateway("http://127.0.0.1:9", PUBLIC_URL)
    await team.act("say", text="first in the list")
    await team.act("say", "grace", text="second")
    await team.settled()
    asked: list[str] = []

    async def fail_on_the_second() -> None:
        asked.append("")
        team.sink.away = len(asked) == 2

    team.sink.before = fail_on_the_second
    sweep = Remembered()
    with pytest.raises(StoreUnavailable):
        await team.channel.catch_up(datetime.now(UTC) - HOUR, sweep)
    assert await team.channel.catch_up(datetime.now(UTC) - HOUR, sweep) == 1
    assert [getattr(item, "text", "") for item in team.sink.accepted] == ["first in the list", "second"]
    assert team.sink.calls == 3  # first, second refused; second


async def test_the_account_is_identified_on_request(team: Team) -> None:
    late = SlackChannel(bot_token=SLACK.bot_token, api_url=team.simulator.slack_url, sink=team.sink)
    team.simulator.wire.faults.add(Rule("slack.auth.test", FaultKind.SERVER_ERROR))
    with pytest.raises(Unavailable):
        await late.identify()
    await late.identify()
    assert late.account == SLACK.team_id
    await late.stop()


async def test_catch_up_before_the_team_is_known_is_unavailable() -> None:
    channel = make_channel(MemorySink())
    with pytest.raises(Unavailable):
        await channel.identify()
    with pytest.raises(Unavailable):
        await channel.catch_up(datetime.now(UTC) - HOUR)
    await channel.stop()


async def test_the_account_is_learned_at_start_however_long_it_takes(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.slack.identity.FIRST_WAIT", 0.01)
    team.simulator.wire.faults.add(Rule("slack.auth.test", FaultKind.SERVER_ERROR, times=3))
    late = SlackChannel(bot_token=SLACK.bot_token, api_url=team.simulator.slack_url, sink=team.sink)
    assert late.account == ""
    await late.start()
    await eventually(lambda: late.account == SLACK.team_id)
    await late.stop()


async def test_who_we_are_is_known_without_the_scope_that_names_the_app(team: Team) -> None:
    api = SlackApi(bot_token=SLACK.bot_token, api_url=team.simulator.slack_url)
    assert (await ask_who_we_are(api)).app == SLACK.app_id
    await team.act("set", scopes=["chat:write"])
    ours = await ask_who_we_are(api)
    assert (ours.team, ours.bot_id, ours.app) == (SLACK.team_id, SLACK.bot_id, "")
    await api.close()


async def test_a_command_typed_in_a_channel_is_answered_in_our_conversation(team: Team) -> None:
    peer = await team.channel._identity.direct("U0GRACE002")
    assert peer == "D0GRACE002"
    assert await team.channel._identity.direct("U0NOBODY00") is None


async def test_setup_says_what_to_paste_and_is_the_same_again(team: Team) -> None:
    first = await team.channel.setup()
    assert await team.channel.setup() == first
    changes = "\n".join(f"{change.what}: {change.after}" for change in first)
    assert manifest_yaml(PUBLIC_URL) in changes
    assert "Delayed Events" in changes
    await team.act("set", scopes=["chat:write"])
    last = (await team.channel.setup())[-1]
    assert (last.before, "im:history" in last.after) == ("chat:write", True)


async def test_doctor_explains_what_is_wrong(team: Team) -> None:
    assert all(check.ok for check in await team.channel.check())
    await team.act("set", scopes=["chat:write", "im:history"])
    (wrong,) = [check for check in await team.channel.check() if not check.ok]
    assert "im:read" in wrong.detail
    assert wrong.fix
    await team.act("set", token="account_inactive")
    (dead,) = await team.channel.check()
    assert (dead.ok, "account_inactive" in dead.detail) == (False, True)


async def test_doctor_looks_at_the_app_token(team: Team) -> None:
    for app_token, ok in ((SLACK.app_token, True), (SLACK.bot_token, False)):
        channel = SlackChannel(
            bot_token=SLACK.bot_token, app_token=app_token, api_url=team.simulator.slack_url, sink=team.sink
        )
        assert (await channel.check())[-1].ok is ok
        await channel.stop()


async def test_doctor_without_slack_does_not_raise() -> None:
    channel = make_channel(MemorySink())
    (check,) = await channel.check()
    assert not check.ok
    await channel.stop()


async def test_slack_is_asked_once_who_somebody_is(team: Team) -> None:
    for _ in range(3):
        await team.act("say", text="hello")
    await team.settled()
    await eventually(lambda: bool(team.sink.people))
    await team.act("say", text="and once more")
    await team.settled()
    [known] = team.sink.people
    assert (known.account, bool(known.name), "/" in (known.timezone or "")) == (SLACK.team_id, True, True)
